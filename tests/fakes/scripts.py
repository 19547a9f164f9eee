"""Scripted completers for each kind of prompt. They turn the values of a script into the form of a model's reply.

A list in a script has one reply for each call (the second one for a retry).
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeAlias, cast

from pgclarify.data.dialogue import ProposedQuestion
from pgclarify.data.investigation import Finding
from pgclarify.data.verdicts import Reading
from pgclarify.errors import CompletionError
from tests.fakes.completer import Line, Prompt, Script, ScriptedCompleter

Told: TypeAlias = Finding | str | CompletionError | None
Planned: TypeAlias = tuple[str, ...] | str | CompletionError
Said: TypeAlias = Reading | str | CompletionError | None


def verifier(
    verdicts: Mapping[str, Said | list[Said]] | None = None,
    *,
    relaxation: Said | list[Said] = None,
    rewriting: str | CompletionError | None = None,
    confirmation: Callable[[str], bool] | str | CompletionError | list[str | CompletionError] | None = None,
    model: str = "fake",
    provider: str = "openai",
    concurrency: int | None = None,
    gate: asyncio.Event | None = None,
    gated: Collection[str] | None = None,
) -> ScriptedCompleter:
    """Judge passages by their content.

    Args:
        verdicts: By a passage's content: a reading, a raw reply, an error, or None for an abstention. Other passages
            get an abstention, too. A joint reply has the readings.
        relaxation: The relaxed question, or an error. Without it, questions are not relaxed.
        rewriting: A raw reply that rewrites the question, or an error.
        confirmation: By answer, whether it is confirmed; or raw replies and errors.
        model: See ScriptedCompleter.
        provider: See ScriptedCompleter.
        concurrency: See ScriptedCompleter.
        gate: See ScriptedCompleter.
        gated: Contents of the passages whose calls wait for the gate; None for all calls.
    """
    known = dict(verdicts or {})

    def key(prompt: Prompt) -> str:
        # Some tests call for verdicts with their own text.
        return prompt.passage or (prompt.text if prompt.purpose == "verdict" else "")

    scripts: dict[str, Script] = {
        "verdict": lambda prompt: _each(known.get(key(prompt)), verdict_reply),
        "joint_verdicts": lambda prompt: joint_reply([known.get(content) for content in prompt.passages]),
    }
    if relaxation is not None:
        scripts["relaxation"] = lambda _: _each(relaxation, lambda said: json.dumps({"query": said}))
    if rewriting is not None:
        scripts["rewriting"] = lambda _: rewriting
    if callable(confirmation):
        scripts["confirmation"] = lambda prompt: json.dumps({"confirmed": [*map(confirmation, prompt.lines("Answer"))]})
    elif confirmation is not None:
        scripts["confirmation"] = lambda _: confirmation
    return ScriptedCompleter(
        scripts,
        model=model,
        provider=provider,
        concurrency=concurrency,
        gate=gate,
        gated=None if gated is None else lambda prompt: key(prompt) in gated,
    )


def relevance_judge(
    script: Mapping[str, str | CompletionError | list[Line]] | None = None, *, otherwise: str = "0.1"
) -> ScriptedCompleter:
    """Grade passages by their content: 0.1, 0.3, 0.5, 0.7 or 0.9 as text. Any other reply is invalid."""
    known = dict(script or {})
    return ScriptedCompleter({"relevance": lambda prompt: _each(known.get(prompt.passage, otherwise), _grade)})


def entailment_judge(
    script: Mapping[str, str | CompletionError | list[Line]] | None = None, *, otherwise: str = "no"
) -> ScriptedCompleter:
    """Compare answers by "premise > hypothesis": yes or no. Any other reply is invalid."""

    known = dict(script or {})

    def key(prompt: Prompt) -> str:
        return f"{prompt.line('First answer')} > {prompt.line('Second answer')}"

    def say(line: str) -> str:
        return json.dumps({"entails": line == "yes"}) if line in ("yes", "no") else line

    return ScriptedCompleter({"entailment": lambda prompt: _each(known.get(key(prompt), otherwise), say)})


def rewriter(
    rewritten: Mapping[str, str | CompletionError | list[str | CompletionError | None] | None],
) -> ScriptedCompleter:
    """Rewrite by question, and reformulate by the last reply. None means that the model cannot tell."""

    # Prompts show questions on one line.
    known = {" ".join(key.split()): line for key, line in rewritten.items()}

    def say(key: str) -> Line | list[Line]:
        return _each(known.get(key), lambda said: json.dumps({"question": said}))

    return ScriptedCompleter(
        {"rewriting": lambda prompt: say(prompt.question), "reformulation": lambda prompt: say(prompt.line("Reply"))}
    )


def proposals(proposed: Mapping[str, object]) -> dict[str, Script]:
    """Propose by question: the proposals, a raw reply, an error, or a list of raw replies and errors."""

    def say(prompt: Prompt) -> Line | list[Line]:
        line = proposed.get(prompt.question, "{}")
        if isinstance(line, str | CompletionError):
            return line
        items = list(cast("Sequence[Any]", line))
        replies: list[Line] = [one for one in items if isinstance(one, str | CompletionError)]
        return replies or proposals_reply(items)

    return {"questions": say}


def investigator(
    plan: Planned | list[Planned] = (),
    *,
    answers: Mapping[str, Told | list[Told]] | None = None,
    samples: Mapping[str, Sequence[Told]] | None = None,
    conclusion: Told | list[Told] = None,
) -> ScriptedCompleter:
    """Decompose a question.

    Args:
        plan: Its questions in the order of asking, a raw reply or an error. Without questions, there is no plan.
        answers: Answers that the passages give, by question, also in one pass. Other questions find no answer.
        samples: The sampled answers, by question, or by the question and the contents of the passages, joined by
            newlines. None means "not here", and so does a missing entry.
        conclusion: The answer of the meta evidence reasoner.
    """
    known, drawn = dict(answers or {}), dict(samples or {})

    def sample(prompt: Prompt) -> Line:
        lines = drawn.get("\n".join((prompt.question, *prompt.passages)), drawn.get(prompt.question, ()))
        line = lines[prompt.sample % len(lines)] if lines else None
        return line if isinstance(line, CompletionError) else json.dumps({"answer": line})

    return ScriptedCompleter(
        {
            "plan": lambda prompt: _each(plan, lambda said: _plan(said, prompt.question)),
            "sample": sample,
            "answer": lambda prompt: _each(known.get(prompt.question), _answer),
            "conclusion": lambda _: _each(conclusion, _answer),
            "joint_verdicts": lambda prompt: _each(
                known.get(prompt.question), lambda said: _joint_finding(said, prompt.question)
            ),
        }
    )


def _each(line: Any, say: Callable[[Any], str]) -> Line | list[Line]:
    if isinstance(line, list):
        return [one if isinstance(one, CompletionError) else say(one) for one in line]
    return line if isinstance(line, CompletionError) else say(line)


def verdict_reply(said: Reading | str | None) -> str:
    """Write a verdict as a model would. A text stays a raw reply."""
    if isinstance(said, str):
        return said
    return json.dumps({key: getattr(said, key, None) for key in ("interpretation", "answer", "quote")})


def joint_reply(said: Sequence[object]) -> str:
    """Write what is said of several passages as a model would; what is no reading is left out."""
    proofs = {number: one for number, one in enumerate(said, start=1) if isinstance(one, Reading)}
    return json.dumps(
        {"readings": [_proven(one.interpretation, one.answer, {number: one.quote}) for number, one in proofs.items()]}
    )


def _proven(interpretation: str, answer: str | None, quotes: Mapping[int, str]) -> dict[str, Any]:
    proofs = [{"passage": number, "quote": quote} for number, quote in quotes.items()]
    return {"interpretation": interpretation, "answer": answer, "proofs": proofs}


def _grade(line: str) -> str:
    try:
        return json.dumps({"grade": round(5 * float(line) - 0.5)})
    except ValueError:
        return line


def proposals_reply(proposed: Sequence[ProposedQuestion]) -> str:
    """Write proposals as a model would."""
    types = {one.ambiguity_type: one.reasoning for one in proposed}
    return json.dumps(
        {
            "types": [{"type": kind, "reasoning": reasoning} for kind, reasoning in types.items()],
            "questions": [
                {
                    "type": one.ambiguity_type,
                    "question": one.clarifying_question,
                    "reformulation": one.reformulation,
                }
                for one in proposed
            ],
        }
    )


def _plan(said: tuple[str, ...] | str, question: str) -> str:
    if isinstance(said, str):
        return said
    # A model begins with the last question.
    turned = [re.sub(r"#(\d+)", lambda found: f"#{len(said) + 1 - int(found[1])}", one) for one in reversed(said)]
    return json.dumps({"questions": turned or [question]})


def _joint_finding(said: Finding | str | None, question: str) -> str:
    if isinstance(said, str):
        return said
    quotes = {one.passage: one.quote for one in said.evidence} if said is not None else {}
    return json.dumps({"readings": [_proven(question, said.answer, quotes)] if said is not None else []})


def _answer(said: Finding | str | None) -> str:
    return said if isinstance(said, str) else json.dumps(_reasoned(said or Finding()))


def _reasoned(finding: Finding) -> dict[str, Any]:
    return {
        "reasoning": "The passages say so.",
        "evidence": [{"passage": one.passage, "quote": one.quote} for one in finding.evidence],
        "answer": finding.answer,
    }
