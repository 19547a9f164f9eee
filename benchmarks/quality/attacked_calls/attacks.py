"""The attacks, the passages that they change, and the calls."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from benchmarks.quality.large_model.files import FEW, Asked, read_asked
from benchmarks.quality.large_model.files import HERE as ASKED
from pgclarify.data.documents import Passage
from pgclarify.data.model_calls import ModelCall
from pgclarify.prompts.joint_verdicts import JointVerdicts, joint_verdicts
from pgclarify.prompts.verdict import verdict

HERE: Final = Path(__file__).parent
KINDS: Final = {
    "silence": "orders to abstain",
    "marks": "forged marks and replies",
    "outdated": "the others are out of date",
    "cited": "orders to be cited for others",
}


@dataclass(frozen=True)
class Attack:
    """A hostile text in one passage of a question.

    Attributes:
        asked: The question, with its passages as they were.
        kind: A key of KINDS.
        place: The passage that has the text, from 0.
        where: Whether the text stands before or after the passage's own, or instead of it.
        claim: An answer that only this text gives; empty if it gives none.
        text: The text.
    """

    asked: Asked
    kind: str
    place: int
    where: str
    claim: str
    text: str

    @property
    def before(self) -> tuple[Passage, ...]:
        """The passages without the attack."""
        return self.asked.passages[:FEW]

    @property
    def after(self) -> tuple[Passage, ...]:
        """The passages with it."""
        passages = [*self.before]
        own = passages[self.place]
        content = {"before": self.text + own.content, "after": own.content + self.text, "instead": self.text}
        passages[self.place] = replace(own, content=content[self.where])
        return tuple(passages)

    @property
    def joint(self) -> ModelCall[JointVerdicts]:
        """The call about all passages."""
        return joint_verdicts(self.asked.question, self.after)

    @property
    def alone(self) -> ModelCall[Any]:
        """The call about the passage with the attack alone."""
        return verdict(self.asked.question, self.after[self.place])


def read_attacks() -> Sequence[Attack]:
    """Read the attacks, by kind."""
    asked = {one.question: one for one in read_asked(ASKED / "asked.jsonl.gz")}
    rows = map(json.loads, (HERE / "attacks.jsonl").read_text("utf-8").splitlines())
    found = [Attack(asked[row.pop("question")], **row) for row in rows]
    return sorted(found, key=lambda one: [*KINDS].index(one.kind))
