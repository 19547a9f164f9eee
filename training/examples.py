"""Labelled questions: rows of the data sets, and examples made from them."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from pgclarify.algorithms.ambiguity.wording import Wording, take_apart
from pgclarify.data.vocabulary import AmbiguityKind
from training.splits import clamber_group, coqa_group

_SEED: Final = 6
_EVERYDAY: Final = Path(__file__).parent / "everyday"
# Made examples, and those from another kind of data, have less weight than labels of people. Few examples suffice for
# vague everyday questions, but not for clear ones.
_BORROWED_WEIGHT: Final = 0.5
_CLEAR_WEIGHT: Final = 1.0
_VAGUE_WEIGHT: Final = 0.5
_MADE_WEIGHT: Final = 0.2

_NAME: Final = re.compile(
    r"(?<=[a-z,] )(?:the )?(?:[a-z]+ )?(?P<name>[A-Z][\w'\u2019]+(?: (?:of |the |and )?[A-Z][\w'\u2019]+)*)"
)
_VAGUE: Final = ("something", "the thing", "one of them", "such a thing")
_PRONOUNS: Final = ("it", "it", "this", "that one", "he", "she", "they")


@dataclass(frozen=True)
class Example:
    """A question with its label.

    Attributes:
        source: "clamber", "abg-coqa", "squad2" or "everyday"; for a made example, "name dropped", "pronoun", "blurred",
            "no history" or "other history".
        group: A split never separates examples of one group.
        weight: Its weight in training.
    """

    source: str
    group: str
    question: str
    history: tuple[str, ...]
    is_ambiguous: bool
    kind: AmbiguityKind | None
    weight: float = 1.0
    subclass: str = ""

    @property
    def is_labelled(self) -> bool:
        """Return whether it is a row of a data set about ambiguity. Figures and calibration use only those rows."""
        return self.source in {"clamber", "abg-coqa"}


def read(data_dir: Path, name: str) -> Iterator[dict[str, Any]]:
    """Read a data set."""
    with gzip.open(data_dir / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def clamber(data_dir: Path) -> list[Example]:
    """Read all rows of clamber."""
    kinds = {"co-reference": AmbiguityKind.PRAGMATIC, "polysemy": AmbiguityKind.LEXICAL}
    return [
        Example(
            "clamber",
            clamber_group(row),
            row["question"],
            (),
            bool(row["require_clarification"]),
            kinds.get(row["subclass"], AmbiguityKind.SYNTACTIC) if row["require_clarification"] else None,
            subclass=row["subclass"] if row["category"] != "MC" else "MC",
        )
        for row in read(data_dir, "clamber")
    ]


def coqa(data_dir: Path) -> list[Example]:
    """Read all conversations of abg-coqa, without their stories."""
    examples = []
    for row in read(data_dir, "abg-coqa"):
        question = row["target_turn"]["question"]
        history = tuple(text for turn in row["history_turns"] for text in (turn["question"], turn["answer"]))
        is_ambiguous = row["ambiguity"] == "ambiguous"
        kind = _kind(take_apart(question, history)) if is_ambiguous else None
        examples.append(Example("abg-coqa", coqa_group(row), question, history, is_ambiguous, kind))
    return examples


def borrowed(data_dir: Path) -> list[Example]:
    """Read questions of SQuAD 2: some that people called under-specified, and others that name their topic."""
    examples = []
    for row in read(data_dir, "squad2.ambiguous"):
        question = row["question"].strip()
        kind = _kind(take_apart(question, ()))
        examples.append(Example("squad2", question.lower(), question, (), True, kind, _BORROWED_WEIGHT))
    for row in read(data_dir, "squad2.answerable"):
        question = row["question"].strip()
        if _names_its_matter(take_apart(question, ())):
            examples.append(Example("squad2", question.lower(), question, (), False, None, _BORROWED_WEIGHT))
    return examples


def everyday() -> list[Example]:
    """Return clear and vague questions that we wrote, as users ask them in a search field or of a customer service.

    No data set of ambiguous questions has such questions. Without them, the classifier calls short questions without
    names ambiguous.
    """
    examples = []
    for name, is_ambiguous, weight in (("clear", False, _CLEAR_WEIGHT), ("vague", True, _VAGUE_WEIGHT)):
        for question in (_EVERYDAY / f"{name}.txt").read_text(encoding="utf-8").splitlines():
            kind = _kind(take_apart(question, ())) if is_ambiguous else None
            examples.append(Example("everyday", question.lower(), question, (), is_ambiguous, kind, weight))
    return examples


def made(real: Sequence[Example]) -> list[Example]:
    """Make examples from real ones. Each is in the group of its real example.

    From a clear question with a name: the question without the name, with a pronoun instead, or with a vague object.
        From a question that refers to earlier turns: the question without history. From a clear question that names its
        topic: the same question after turns about something else, which is still clear.
    """
    chance = random.Random(_SEED)  # noqa: S311 - no secret
    conversations = [example for example in real if example.history]
    examples = []
    for example in real:
        wording = take_apart(example.question, ())
        if example.history:
            if not wording.has_antecedent and (wording.referential or not wording.content):
                examples.append(
                    replace(
                        example,
                        source="no history",
                        history=(),
                        is_ambiguous=True,
                        kind=AmbiguityKind.PRAGMATIC,
                        weight=_BORROWED_WEIGHT,
                    )
                )
            continue
        if example.is_ambiguous or "\n" in example.question or not _names_its_matter(wording):
            continue
        examples.append(
            replace(
                example,
                source="other history",
                history=chance.choice(conversations).history,
                weight=_MADE_WEIGHT,
            )
        )
        found = list(_NAME.finditer(example.question))
        if example.source == "clamber" and found:
            examples += _unnamed(example, found[-1], chance)
    return examples


def _unnamed(example: Example, name: re.Match[str], chance: random.Random) -> Iterator[Example]:
    before, after = example.question[: name.start()], example.question[name.end() :]
    kind_of_thing = name.group()[: name.start("name") - name.start()].strip()
    made_of = {
        ("pronoun", AmbiguityKind.PRAGMATIC): chance.choice(_PRONOUNS),
        ("blurred", AmbiguityKind.SYNTACTIC): chance.choice(_VAGUE),
    }
    if kind_of_thing.startswith("the "):
        made_of["name dropped", AmbiguityKind.SYNTACTIC] = kind_of_thing
    for (source, kind), text in made_of.items():
        question = re.sub(r"\s+([?.,])", r"\1", f"{before}{text}{after}")
        yield replace(example, source=source, question=question, is_ambiguous=True, kind=kind, weight=_MADE_WEIGHT)


def _kind(wording: Wording) -> AmbiguityKind:
    """Return the kind of an ambiguous question, if the data do not say it."""
    points_back = wording.referential or not wording.content
    return AmbiguityKind.PRAGMATIC if points_back else AmbiguityKind.SYNTACTIC


def _names_its_matter(wording: Wording) -> bool:
    return bool(wording.names or wording.quotes) and not wording.referential
