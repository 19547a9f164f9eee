"""docs/vocabularies.md: all closed vocabularies, with where each is declared."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from pgclarify import errors
from pgclarify.data.vocabulary import Vocabulary
from pgclarify.declared.words import COLUMNS, UNCHECKED

_HEAD: Final = """\
<!-- Written by `make generated` from pgclarify/data/vocabulary.py and pgclarify/errors.py. Do not edit. -->

# Words and codes

For programs that read states, kinds and codes, and for people who change pgclarify: every closed list of words, where
it stands, and where the code declares it. A later version may add words, so accept one that you do not know.

"""
# Lists of words that have a page of their own.
_ELSEWHERE: Final = (
    ("operations", "`run.operation`", "`pgclarify/declared/operations.py`"),
    ("[values of options](reference/functions.md)", "`run.settings`", "`pgclarify/declared/`, in the `Option`"),
    ("[values of settings](settings.md)", "the environment", "`pgclarify/config.py`"),
    ("[error codes](#error-codes)", "`run.error_code`, `verdict.error_code`, errors", "`pgclarify/errors.py`"),
)
_VOCABULARY: Final = "`pgclarify/data/vocabulary.py`"


def classes() -> list[type[Vocabulary]]:
    """Return all vocabularies, in the order of their declaration."""
    return Vocabulary.__subclasses__()


def vocabularies() -> str:
    """Return the content of the file."""
    rows = [(f"[{_title(one)}](#{_title(one).replace(' ', '-')})", _places(one), _VOCABULARY) for one in classes()]
    overview = _table(("words", "where they stand", "declared in"), (*rows, *_ELSEWHERE))
    return _HEAD + "\n".join((overview, *map(_section, classes()), _error_codes()))


def _title(one: type[Vocabulary]) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", one.__name__).lower()


def _places(one: type[Vocabulary]) -> str:
    """Return the columns that have the words, and which words if a column has only some of them."""
    places = []
    for column, words in {**COLUMNS, **UNCHECKED}.items():
        own = [word for word in words if isinstance(word, one)]
        if own:
            some = f" ({', '.join(own)})" if len(own) < len(one) else ""
            places.append(f"`{column}`{some}")
    return ", ".join(places)


def _section(one: type[Vocabulary]) -> str:
    about = re.sub(r"docs/([\w/-]+\.md)", r"[\1](\1)", " ".join((one.__doc__ or "").split()))
    rows = ((f"`{word}`", word.meaning) for word in one)
    return f"## {_title(one).capitalize()}\n\n{about}\n\n{_table(('word', 'meaning'), rows)}"


def _error_codes() -> str:
    about = "SQLSTATEs, and the exceptions of Python that have them; [errors](errors.md) explains them."
    found: dict[str, list[str]] = {errors.TOO_MANY_CRASHES: [], errors.PROGRESS: [], errors.UNFOLLOWED: []}
    for error in vars(errors).values():
        if isinstance(error, type) and issubclass(error, errors.PgclarifyError):
            found.setdefault(error.sqlstate, []).append(f"`{error.__name__}`")
    rows = (
        (f"`{code}`", ", ".join(found[code]), "yes" if code in errors.VERDICT_CODES else "") for code in sorted(found)
    )
    return f"## Error codes\n\n{about}\n\n{_table(('code', 'exceptions', 'of a failed verdict'), rows)}"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    def lines() -> Iterator[str]:
        for row in (head, ("---",) * len(head), *rows):
            yield f"| {' | '.join(row)} |\n".replace("  ", " ")

    return "".join(lines())
