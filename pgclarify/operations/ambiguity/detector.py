"""What says that a question is ambiguous: a classifier, and users' rules.

Source: Detect, then rewrite (summary): a classifier for what is missing or vague, rules for words with several
meanings.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeAlias

from pgclarify.dialogue import Detection, DetectionReason, MatchedRule
from pgclarify.language.languages import is_foreign
from pgclarify.language.numbers import counted
from pgclarify.model import Run
from pgclarify.protocols import Classifier, DialogueStore, Embedder, Judged

Asked: TypeAlias = tuple[str, Sequence[str]]
"""A question, and what was said before it, oldest first."""

LANGUAGE: Final = "language"
"""Name of the reason that a question is in another language than English."""

# Between two batches of the classifier others get their turn.
_BATCH: Final = 256
_FOREIGN: Final = "it is not in English, and only English questions are judged"
_NOTHING: Final = "nothing in its wording speaks for that; the threshold is {:g}"


class Detector:
    """Says of questions whether they are ambiguous, and why.

    Args:
        classifier: Who judges.
        embedders: Gives the embedding model of a name.
    """

    def __init__(self, classifier: Classifier, embedders: Callable[[str], Awaitable[Embedder]]) -> None:
        self._classifier = classifier
        self._embedders = embedders

    async def detect(
        self, run: Run, dialogue: DialogueStore, asked: Sequence[Asked], threshold: float | None
    ) -> list[Detection]:
        """Judge questions without blocking the event loop; nothing is recorded.

        Args:
            run: The run, whose rules are matched.
            dialogue: Where the rules are.
            asked: Any number, also none; of a history, what is blank is left out.
            threshold: The probability from which a question counts as ambiguous; None for the classifier's own.

        Returns:
            One detection for each question. One in another language than English is ambiguous by a rule only: the
            classifier has seen nothing like it.

        Raises:
            EmbeddingError: If a question could not be embedded.
            ConfigurationError: If the embedding model cannot be used on this processor, or a rule takes too long.
            RunLost: If the run is no longer this worker's.
        """
        if not asked:
            return []
        least = self._classifier.threshold if threshold is None else threshold
        given = [(question, [said for said in history if said.strip()]) for question, history in asked]
        judged, matched = await asyncio.gather(
            self._judge(given, least), dialogue.match_rules(run, [question for question, _ in given])
        )
        rules = defaultdict(list)
        for rule in matched:
            rules[rule.ordinal].append(rule)
        return [
            self._conclude(question, one, rules[ordinal], least)
            for ordinal, ((question, _), one) in enumerate(zip(given, judged, strict=True), start=1)
        ]

    async def _judge(self, asked: Sequence[Asked], threshold: float) -> list[Judged]:
        embedder = await self._embedders(self._classifier.embedding_model)
        inputs = [self._classifier.inputs(*one) for one in asked]
        # All at once: the embedder sorts by length, and sees to it that others get their turn.
        vectors = await embedder.encode([text for texts in inputs for text in texts])
        judged: list[Judged] = []
        row = 0
        for start in range(0, len(asked), _BATCH):
            rows = sum(len(texts) for texts in inputs[start : start + _BATCH])
            judged += await asyncio.to_thread(
                self._classifier.judge,
                asked[start : start + _BATCH],
                vectors[row : row + rows],
                threshold=threshold,
            )
            row += rows
        return judged

    def _conclude(self, question: str, judged: Judged, rules: Sequence[MatchedRule], threshold: float) -> Detection:
        is_read = not is_foreign(question)
        is_likely = is_read and judged.probability >= threshold
        is_ambiguous = bool(rules) or is_likely
        # What spoke for "clear" is no reason for what a rule decided.
        speaks = is_read and (is_likely or not rules)
        reasons = [DetectionReason(str(said.source), said.name, said.text) for said in judged.reasons if speaks]
        if not is_read:
            reasons.append(DetectionReason("classifier", LANGUAGE, _FOREIGN))
        elif not (rules or reasons):
            reasons.append(DetectionReason("classifier", "threshold", _NOTHING.format(threshold)))
        # One that is sure to be ambiguous by a rule is so as the rule says.
        kind = rules[0].kind if rules else str(judged.kind)
        return Detection(
            question=question,
            is_ambiguous=is_ambiguous,
            probability=1.0 if rules else float(judged.probability) if is_read else None,
            kind=kind if is_ambiguous else None,
            reasons=(*(_ruled(rule) for rule in rules), *reasons),
            classifier_version=self._classifier.version,
        )


def _ruled(rule: MatchedRule) -> DetectionReason:
    """Put what a rule says in words."""
    said = f'"{rule.matched}"' if rule.matched else "it"
    text = f"{said} matches a rule" if rule.note is None else f"{said}: {rule.note}"
    return DetectionReason("rule", f"rule {rule.ambiguity_rule_id}", text)


def summarize(detections: Sequence[Detection]) -> str:
    """Say on one line what was found, for the note of a stage."""
    if len(detections) != 1:
        ambiguous = sum(one.is_ambiguous for one in detections)
        return f"{ambiguous} of {counted(len(detections), 'question')} {'is' if ambiguous == 1 else 'are'} ambiguous"
    (one,) = detections
    why = "".join(f": {reason.text}" for reason in one.reasons[:1])
    if one.probability is None:
        return f"not judged{why}"
    what = f"ambiguous ({one.kind})" if one.is_ambiguous else "clear"
    return f"{what}, probability {one.probability:.2f}{why}"
