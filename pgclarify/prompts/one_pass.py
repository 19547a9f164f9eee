"""Asks for an answer that one passage proves: how clarify answers a clear question with a single call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pgclarify.data.documents import Passage
from pgclarify.data.investigation import Finding
from pgclarify.data.model_calls import ModelCall
from pgclarify.prompts.fencing import AFTER_PASSAGES, FENCE_RULE, fenced_passages, question_line
from pgclarify.prompts.findings import ANSWER_SCHEMA, read_finding
from pgclarify.prompts.rendering import model_call

_TOKENS: Final = 512

_SYSTEM: Final = f"""\
You get numbered passages and a question. Answer the question from one passage, never from memory.

Reply with one JSON object and nothing else: {{"quote": ..., "passage": ..., "answer": ...}}

quote: the words of a passage that answer the question, copied letter by letter, one sentence at most.
passage: the number of that passage.
answer: the answer in a few words.
If no passage tells the answer, all three are null.

{FENCE_RULE}

Example
Passages: 1 is about Lindvik Castle. 2 says: Ida Holm was a painter. She was born in Ortval, a fishing village.
Question: Where was Ida Holm born?
{{"quote": "She was born in Ortval, a fishing village.", "passage": 2, "answer": "Ortval"}}

Example
Passages: 1 and 2 as before.
Question: When was Ida Holm born?
{{"quote": null, "passage": null, "answer": null}}"""


_REMINDER: Final = """\
An earlier reply to this could not be used. Reply with exactly one JSON object with the keys quote, passage and \
answer. The quote has to stand in that passage word for word; all three are null if no passage tells the answer."""


def one_pass(question: str, passages: Sequence[Passage]) -> ModelCall[Finding]:
    """Ask for an answer, with a quote that proves it. The caller must check that the quote is in that passage.

    The question is before and after the passages: a small model knows what to look for, and what to answer.
    """
    asked = question_line(question)
    return model_call(
        "one_pass",
        _SYSTEM,
        [asked, fenced_passages(passages), AFTER_PASSAGES, asked],
        ANSWER_SCHEMA,
        read_finding,
        max_tokens=_TOKENS,
        reminder=_REMINDER,
        passages=passages,
    )
