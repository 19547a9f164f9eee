"""The checks of verdicts, and the rules of the reader without a model, each with what stands in its place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from types import ModuleType
from typing import Any, Final
from unittest import mock

from pgclarify.language.checks import Language
from pgclarify.language.english import checks, denials
from pgclarify.language.english.checks import ENGLISH
from pgclarify.language.english.reading import evidence, lists, phrases, readings, relevance, span_readings
from pgclarify.operations.judging import verdict_check
from pgclarify.providers.extractive import best_sentence, verifier


@dataclass(frozen=True)
class Part:
    """A check or a rule.

    Attributes:
        name: Of the function.
        language: English without the check; whole for a rule.
        module: Where a name is that has to be replaced; None if the language says all.
        attribute: The name.
        instead: What replaces it.
    """

    name: str
    language: Language = ENGLISH
    module: ModuleType | None = None
    attribute: str = ""
    instead: Any = None

    @contextmanager
    def left_out(self) -> Iterator[None]:
        """Leave it out for a while."""
        if self.module is None:
            yield
            return
        with mock.patch.object(self.module, self.attribute, self.instead):
            yield


@contextmanager
def noting(parts: Sequence[Part], touched: set[str]) -> Iterator[None]:
    """Note the names of parts that change anything: only for these must a case be read again without the part."""
    with ExitStack() as stack:
        for part in parts:
            assert part.module is not None
            original = getattr(part.module, part.attribute)
            if callable(original):
                stack.enter_context(mock.patch.object(part.module, part.attribute, _noted(part, original, touched)))
        yield


def _noted(part: Part, original: Callable[..., Any], touched: set[str]) -> Callable[..., Any]:
    @wraps(original)
    def called(*args: Any, **options: Any) -> Any:
        told = original(*args, **options)
        if part.name not in touched and told != part.instead(*args, **options):
            touched.add(part.name)
        return told

    return called


def _never(*_: Any, **__: Any) -> bool:
    return False


def _always(*_: Any, **__: Any) -> bool:
    return True


def _nothing(*_: Any, **__: Any) -> None:
    return None


def _none(*_: Any, **__: Any) -> list[str]:
    return []


def _empty(*_: Any, **__: Any) -> str:
    return ""


_KINDS: Final = ("of_claims", "of_passage", "doubts_of_sentences", "doubts_of_quote")


def _without(name: str) -> Language:
    kept: dict[str, Any] = {
        kind: tuple(one for one in getattr(ENGLISH, kind) if one.__name__ != name) for kind in _KINDS
    }
    return replace(ENGLISH, **kept)


NOTHING: Final = Part("nothing")
ONLY_THE_QUOTE: Final = Part(
    "all checks but that of the quote", Language("en", find_copied=ENGLISH.find_copied), verdict_check, "_CLAUSE", 0
)
CHECKS: Final = (
    *(Part(one.__name__, _without(one.__name__)) for kind in _KINDS for one in getattr(ENGLISH, kind)),
    Part("denials._affirms", module=denials, attribute="_affirms", instead=_nothing),
    Part("checks._before", module=checks, attribute="_before", instead=_none),
    Part("short quotes are read with their sentence", module=verdict_check, attribute="_CLAUSE", instead=0),
    Part("find_restated (accepts quotes)", replace(ENGLISH, find_copied=_nothing)),
)


def _rule(module: ModuleType, name: str, instead: Any) -> Part:
    return Part(f"{module.__name__.rpartition('.')[2]}.{name}", module=module, attribute=name, instead=instead)


RULES: Final = (
    _rule(verifier, "read_reply", _nothing),
    _rule(verifier, "read_cell", _nothing),
    _rule(verifier, "read_label", _nothing),
    _rule(verifier, "is_relevant", _always),
    _rule(verifier, "best_sentence", _nothing),
    _rule(verifier, "with_row", lambda by_rules, judged: judged),
    _rule(best_sentence, "SHARE_OF_BEST", 0.0),
    _rule(verifier, "_context", lambda asked, piece, topic, content: piece.text),
    _rule(verifier, "_SHAPE", 0.0),
    _rule(relevance, "_has_asked_word", _always),
    _rule(relevance, "_has_shape", _always),
    _rule(relevance, "_is_within_time", _never),
    _rule(relevance, "_is_named", _always),
    _rule(span_readings, "_has_several_values", _never),
    _rule(span_readings, "is_readable", _always),
    _rule(span_readings, "is_said_elsewhere", _never),
    _rule(span_readings, "is_of_neighbor", _never),
    _rule(best_sentence, "is_of_neighbor", _never),
    _rule(span_readings, "_bounds_of_measure", lambda quote, start, end: (start, end)),
    _rule(span_readings, "_with_noun", lambda asked, quote, answer: answer),
    _rule(span_readings, "_without_full_stop", lambda answer: answer),
    _rule(readings, "is_readable", _always),
    _rule(readings, "people_with", _none),
    _rule(readings, "read_phrase", _nothing),
    _rule(readings, "_from_row", _nothing),
    _rule(phrases, "section_of", _empty),
    _rule(phrases, "_names", _never),
    _rule(phrases, "_is_about", _always),
    _rule(phrases, "_begins_with_query", _never),
    _rule(phrases, "_is_pointing", _never),
    _rule(phrases, "_is_open", _never),
    _rule(phrases, "_is_term", _never),
    _rule(phrases, "in_context", lambda name, topic: name),
    _rule(evidence, "_join_replies", lambda passage, sentences: [*sentences]),
    _rule(evidence, "_whole_list", _nothing),
    _rule(lists, "people_with", _none),
)
