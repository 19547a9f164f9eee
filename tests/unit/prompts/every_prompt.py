"""Every prompt, with given texts in all of its places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.prompts import (
    dialogue,
    listing_at_once,
    next_answer,
    one_prompt,
    schemes,
    self_asking,
    verdicts,
)
from pgclarify.data.dialogue import Form, Turn
from pgclarify.data.documents import Passage
from pgclarify.data.investigation import Step
from pgclarify.data.model_calls import ModelCall
from pgclarify.prompts import (
    baselines,
    clarifying_questions,
    confirmation,
    cross_encoding,
    entailment,
    evaluation_judge,
    investigation,
    joint_verdicts,
    relaxation,
    relevance,
    rewriting,
    verdict,
)

TOPICS = (
    relaxation,
    verdict,
    confirmation,
    relevance,
    cross_encoding,
    entailment,
    investigation,
    joint_verdicts,
    rewriting,
    clarifying_questions,
    baselines,
    dialogue,
    listing_at_once,
    verdicts,
    one_prompt,
    next_answer,
    self_asking,
    schemes,
    evaluation_judge,
)
"""The modules of prompts."""

OF_CROSS_ENCODERS = {"inference", "reranking"}
"""Their inputs are texts without a prompt."""


@dataclass(frozen=True)
class Given:
    """The texts of users, documents and models in prompts."""

    question: str
    readings: Sequence[str]
    answers: Sequence[str]
    history: Sequence[str]
    passages: Sequence[Passage]
    steps: Sequence[Step]
    said: Sequence[Turn]
    turns: Sequence[Turn]
    asked: Sequence[str]


def calls(given: Given) -> list[tuple[str, ModelCall[Any]]]:
    """Render every prompt in all of its variants. Returns each with the name of the variant, if it has one."""
    return [
        ("", relaxation.relaxation(given.question)),
        ("", verdict.verdict(given.question, given.passages[0])),
        ("without title", verdict.verdict(given.question, given.passages[1])),
        ("extractive", verdict.verdict(given.question, given.passages[0])),
        (
            "",
            confirmation.confirmation(
                [confirmation.GivenAnswer(one, given.question, given.answers[1]) for one in given.passages]
            ),
        ),
        ("", relevance.relevance(given.question, given.passages[0])),
        (
            "",
            cross_encoding.reranking(
                given.question, [one.content for one in given.passages], [one.document_id for one in given.passages]
            ),
        ),
        ("", entailment.entailment(given.question, given.answers[0], given.answers[1])),
        ("", cross_encoding.inference([(given.answers[0], given.answers[1]), (given.answers[1], given.answers[0])])),
        ("", investigation.plan(given.question, most=4)),
        ("comparison", investigation.plan(f"{given.question} One or two?", most=4)),
        ("", investigation.sample(given.question, given.passages, number=0)),
        ("", investigation.sample(given.question, given.passages, number=4)),
        ("", investigation.answer(given.question, given.passages)),
        ("", investigation.conclusion(given.question, given.steps, given.passages)),
        ("filled in", investigation.answer(investigation.fill_in("Where was #1 born?", given.steps), given.passages)),
        ("", rewriting.rewriting(given.question, given.history)),
        ("", rewriting.reformulation(given.question, given.turns)),
        ("with history", rewriting.reformulation(given.question, given.turns, history=given.history)),
        *(
            (
                f"at_cot {form}{' with history' if history else ''}",
                clarifying_questions.clarifying_questions(given.question, history, form=form, count=3),
            )
            for form in Form
            for history in ([], given.history)
        ),
        (
            "one at_cot",
            clarifying_questions.clarifying_questions(given.question, [], form=Form.RESPOND, count=1),
        ),
        ("", dialogue.ambiguity(given.question, [])),
        ("with history", dialogue.ambiguity(given.question, given.history)),
        *(
            (variant, dialogue.simulated_reply(given.readings[0], given.question, said, asked, history=history))
            for variant, said, asked, history in (
                ("", [], given.said[0].asked, []),
                ("later", given.said, given.asked, []),
                ("with history", [], given.said[0].asked, given.history),
            )
        ),
        *(
            (
                variant,
                dialogue.simulated_choice(given.readings[0], given.question, said, given.readings, history=history),
            )
            for variant, said, history in (("", [], []), ("later", given.said, []), ("with history", [], given.history))
        ),
        ("", listing_at_once.listing_at_once(given.question, given.passages, 10)),
        ("", verdicts.verdicts(given.question, given.passages)),
        ("", one_prompt.one_prompt(given.question, given.passages)),
        ("", joint_verdicts.joint_verdicts(given.question, given.passages)),
        ("", next_answer.next_answer(given.question, given.passages, [])),
        ("later", next_answer.next_answer(given.question, given.passages, given.answers)),
        ("", self_asking.follow_up(given.question, [])),
        *(
            (variant, self_asking.follow_up(given.question, facts))
            for variant, facts in (
                ("later", [(given.readings[0], given.answers[0])]),
                ("not found", [(given.readings[0], None)]),
            )
        ),
        (
            "",
            self_asking.meta_evidence(given.question, [(given.readings[0], given.answers[0])], given.passages),
        ),
        *(
            (
                f"{scheme} {form}{' with history' if history else ''}",
                schemes.proposals(given.question, history, scheme=scheme, form=form, count=3),
            )
            for scheme in schemes.Scheme
            for form in Form
            for history in ([], given.history)
        ),
        ("", baselines.proposal(given.question)),
        ("", baselines.verification(given.question, given.passages)),
        ("", baselines.answers(given.readings, given.passages)),
        ("", baselines.disambiguation(given.question, given.passages)),
        ("with answer", evaluation_judge.support(given.readings[0], given.answers[1], given.passages)),
        ("without answer", evaluation_judge.support(given.readings[0], None, given.passages)),
        ("", evaluation_judge.match(given.question, given.readings, given.readings[:1])),
    ]
