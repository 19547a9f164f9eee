"""A judge in two steps: rules about words, and a chat model for the claims that pass the rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pgclarify.evaluated import BOTH, Stated
from pgclarify.evaluation.lexical_judge import LexicalJudge, SentenceBounds
from pgclarify.evaluation.model_judge import ModelJudge
from pgclarify.model import Passage

_VERSION: Final = "1"
# Lower than the bounds of the lexical judge alone, because the model refuses most wrong readings that pass.
_BOUNDS: Final = SentenceBounds(share=0.3, of_best=0.5)


class BothJudge:
    """Calls a reading supported only if the lexical judge and a model both agree. Implements Judge.

    All other judgements need no passage, and the rules alone make them.

    Args:
        model: The judge for claims that the rules support.
    """

    def __init__(self, model: ModelJudge) -> None:
        self._model = model
        self._lexical = LexicalJudge(_BOUNDS)

    @property
    def name(self) -> str:
        """Return the names of both judges."""
        return BOTH + self._model.name

    @property
    def version(self) -> str:
        """Return its own version and those of both judges."""
        return f"{_VERSION}+{self._lexical.version}+{self._model.version}"

    @property
    def needs_answers(self) -> bool:
        """The rules support no reading without an answer."""
        return self._lexical.needs_answers

    @property
    def unjudged(self) -> int:
        """Return how many judgements the model failed to make."""
        return self._model.unjudged

    def for_case(self) -> BothJudge:
        """Return this judge with a count of its own. See Judge."""
        return BothJudge(self._model.for_case())

    async def supports(self, claims: Sequence[tuple[Stated, Sequence[Passage]]]) -> list[bool]:
        """Return whether a passage answers a reading, by its words and by the model. See Judge.

        Raises:
            EndpointUnavailable: If the model could not be asked.
            DatabaseError: If the ledger fails.

        Source: VERDICT, Eq. 20. The condition that the words agree too is ours.
        """
        judgements = await self._lexical.supports(claims)
        asked = [claim for claim, is_supported in zip(claims, judgements, strict=True) if is_supported]
        replies = iter(await self._model.supports(asked))
        return [is_supported and next(replies) for is_supported in judgements]

    async def matches(self, question: str, readings: Sequence[Stated], among: Sequence[Stated]) -> list[bool]:
        """As the lexical judge. See Judge."""
        return await self._lexical.matches(question, readings, among)

    async def distinct(self, question: str, readings: Sequence[Stated]) -> list[int]:
        """As the lexical judge. See Judge."""
        return await self._lexical.distinct(question, readings)

    async def relevant(self, question: str, readings: Sequence[Stated]) -> list[bool]:
        """As the lexical judge. See Judge."""
        return await self._lexical.relevant(question, readings)
