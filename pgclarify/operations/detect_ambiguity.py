"""Detects ambiguous questions: with a classifier, and users' rules.

Source: Detect, then rewrite (summary).
"""

from __future__ import annotations

import json

from pgclarify.operations.context import Ending, RunContext


async def detect_ambiguity(context: RunContext) -> Ending:
    """Detect ambiguous questions, one or many; the detections are the result.

    The run succeeds; or it fails if a question could not be embedded, or a rule takes too long.

    Args:
        context: The run. Its question is a text, or with setting questions a JSON array of texts. It uses the settings
            history and threshold. If it has a corpus, its rules and its classifier judge.

    Source: Detect, then rewrite (summary), Method Summary.
    """
    run = context.run
    questions: list[str] = json.loads(run.question) if "questions" in run.settings else [run.question]
    history = run.settings.get("history", [])
    await context.store.record_results(run, await context.detect([(question, history) for question in questions]))
    return Ending()
