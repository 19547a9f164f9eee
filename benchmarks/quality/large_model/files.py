"""The questions with their passages, and the recorded replies."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final

from benchmarks import product
from benchmarks.prompts.one_prompt import one_prompt
from pgclarify.data.documents import Passage
from pgclarify.data.model_calls import ModelCall
from pgclarify.prompts.baselines import disambiguation
from pgclarify.prompts.joint_verdicts import joint_verdicts
from pgclarify.prompts.relaxation import relaxation
from pgclarify.prompts.verdict import verdict

HERE: Final = Path(__file__).parent
FEW: Final = 8
"""Passages of a question that are asked about one by one, and together."""
MANY: Final = 20
"""Passages of a question that are asked about together, for some questions."""

# RAMDocs is under MIT, the handbook under Apache-2.0.
_PUBLISHED: Final = ("ramdocs", "hackerbay/Employee-Handbook")
_HASHED: Final = "sha256:"
ONLY_RELAXED: Final = 100
"""Questions of squad2 and of MuSiQue each that are only relaxed."""


@dataclass(frozen=True)
class Known:
    """A reading that people, or a writer of questions who saw the documents, know.

    Attributes:
        answer: Its answer.
        parts: A right answer, with its quote, has one of the texts of each part, in lower case. Empty if the answer
            itself is compared.
    """

    answer: str
    parts: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Asked:
    """A question, and the passages that a search for it found.

    Attributes:
        documents: ramdocs, or the public repository of the documents.
        question: The question.
        known: The readings that are known.
        wrong: Answers that documents give, and that are known to be wrong.
        passages: Best first, at most `MANY`. A passage that is not ours to publish has its hash as content.
    """

    documents: str
    question: str
    known: tuple[Known, ...]
    wrong: tuple[str, ...]
    passages: tuple[Passage, ...]

    @property
    def is_held(self) -> bool:
        """Whether it decides: nobody looked at it while rules changed."""
        return int(hashlib.sha256(self.question.encode()).hexdigest(), 16) % 2 == 1


def write_asked(path: Path, several: Iterable[Asked]) -> None:
    """Write questions into a gzipped file of JSON lines."""
    _write(path, (_row(one) for one in several))


def without_texts(several: Iterable[Asked]) -> list[Asked]:
    """Replace passages that are not ours to publish by their hashes."""
    return [
        one
        if one.documents in _PUBLISHED
        else replace(one, passages=tuple(replace(each, content=_hashed(each.content)) for each in one.passages))
        for one in several
    ]


def with_texts(several: Iterable[Asked], texts: Iterable[str]) -> list[Asked]:
    """Put passages in the place of their hashes. Questions of which one is missing are left out.

    Args:
        several: Questions, as `without_texts` returned them.
        texts: The contents of passages.
    """
    known = {_hashed(text): text for text in texts}
    found = []
    for one in several:
        contents = [known.get(each.content, each.content) for each in one.passages]
        if not any(content.startswith(_HASHED) for content in contents):
            passages = (replace(each, content=text) for each, text in zip(one.passages, contents, strict=True))
            found.append(replace(one, passages=tuple(passages)))
    return found


def passage_texts(url: str) -> list[str]:
    """Read the passages of all corpora of a database."""
    with product.connect(url) as connection:
        return [row["content"] for row in connection.execute("select content from pgclarify.passage").fetchall()]


def _hashed(text: str) -> str:
    return _HASHED + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _row(one: Asked) -> dict[str, Any]:
    fields = ("document_id", "passage_id", "content", "title", "heading", "start_char")
    return {**asdict(one), "passages": [{name: getattr(each, name) for name in fields} for each in one.passages]}


def read_asked(path: Path) -> list[Asked]:
    """Read questions."""
    return [
        Asked(
            row["documents"],
            row["question"],
            tuple(Known(each["answer"], tuple(map(tuple, each["parts"]))) for each in row["known"]),
            tuple(row["wrong"]),
            tuple(Passage(**each) for each in row["passages"]),
        )
        for row in rows_of(path)
    ]


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a gzipped file of JSON lines."""
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        yield from map(json.loads, stream)


def _write(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def only_relaxed(data_dir: Path) -> list[str]:
    """Questions of other data sets, of which only the search is measured."""
    files = ("squad2.ambiguous", "musique.questions")
    return [row["question"] for file in files for row in islice(rows_of(data_dir / f"{file}.jsonl.gz"), ONLY_RELAXED)]


def write_replies(path: Path, replies: Mapping[tuple[str, str], str]) -> None:
    """Write replies, by the hash of the prompt and the writer."""
    _write(path, ({"asked": asked, "writer": writer, "reply": one} for (asked, writer), one in sorted(replies.items())))


def read_replies(path: Path) -> dict[tuple[str, str], str]:
    """Read what `write_replies` wrote."""
    return {(row["asked"], row["writer"]): row["reply"] for row in rows_of(path)}


def letters() -> dict[str, str]:
    """Read the letters of readings of real documents, by `reading_key`: R right, W wrong, N true, but not useful."""
    lines = (HERE / "letters.jsonl").read_text("utf-8").splitlines()
    return {row["reading"]: row["letter"] for row in map(json.loads, lines)}


def reading_key(documents: str, question: str, answer: str) -> str:
    """Return the key of a reading that was judged."""
    return hashlib.sha256(f"{documents}\0{question}\0{answer}".encode()).hexdigest()[:16]


def hash_of(call: ModelCall[Any]) -> str:
    """Return the key of a prompt: a hash of its messages."""
    text = "\0".join(f"{one.role}\0{one.content}" for one in call.messages)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]


CALLS: Final[Mapping[str, Callable[[str, Sequence[Passage]], list[ModelCall[Any]]]]] = {
    "verdict": lambda question, passages: [verdict(question, one) for one in passages[:FEW]],
    "one_prompt": lambda question, passages: [one_prompt(question, passages[:FEW])],
    "rac": lambda question, passages: [disambiguation(question, passages[:FEW])],
    "joint_verdicts": lambda question, passages: [joint_verdicts(question, passages[:FEW])],
    "joint_verdicts_many": lambda question, passages: [joint_verdicts(question, passages)],
    "relaxation": lambda question, passages: [relaxation(question)],
}
"""The calls about a question, by how it is asked."""
