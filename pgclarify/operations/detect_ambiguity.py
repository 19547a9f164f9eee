"""Detects ambiguous questions: with a classifier, users' rules, and the readings of a corpus.

Source: Detect, then rewrite (summary). Counting the readings of a corpus is ours.
"""

from __future__ import annotations

import json
from dataclasses import replace

from pgclarify.language.numbers import counted
from pgclarify.operations.ambiguity.detector import summarize
from pgclarify.operations.ambiguity.readings import count_readings
from pgclarify.operations.context import Ending, RunContext


async def detect_ambiguity(context: RunContext) -> Ending:
    """Detect ambiguous questions, one or many; the detections are the result.

    The run succeeds; or it fails if a question could not be embedded, no passage of the corpus could be judged, or a
    rule takes too long.

    Args:
        context: The run. Its question is a text, or with setting questions a JSON array of texts. It uses the settings
            history, threshold and top_k. If it has a corpus and top_k is not 0, the readings that the corpus supports
            are counted. A run of many questions has no top_k.

    Source: Detect, then rewrite (summary), Method Summary.
    """
    run, dialogue = context.run, context.stores.dialogue
    is_many = "questions" in run.settings
    questions: list[str] = json.loads(run.question) if is_many else [run.question]
    history = run.settings.get("history", [])
    with context.trace.stage("detection") as tally:
        asked = [(question, history) for question in questions]
        detections = await context.models.detector.detect(run, dialogue, asked, run.settings.get("threshold"))
        tally.rows = len(detections)
        tally.note = summarize(detections)
    if run.corpus_id is not None and run.settings.get("top_k"):
        with context.trace.stage("checking") as tally:
            readings = await count_readings(context)
            tally.rows = readings.count
            # Not the answers: the note is not hidden from roles that may not read their documents.
            tally.note = f"{counted(readings.count, 'reading')} in {counted(readings.judged, 'passage')}"
        detections = [replace(one, reasons=(*one.reasons, readings.reason)) for one in detections]
    await dialogue.record_detections(run, detections)
    return Ending()
