"""The ledger key of every prompt, for fixed inputs, is the one in ledger_keys.txt.

A reply is served from the ledger only under the key that it was bought with. A refactoring must therefore change no
line of that file. A line whose input differs while its version is the same would mix replies to two prompts.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from pgclarify.dialogue import Form, PromptScheme, Turn
from pgclarify.llm.answer_lister import EndpointAnswerLister
from pgclarify.llm.baseline_model import EndpointBaselineModel
from pgclarify.llm.endpoint import Endpoint
from pgclarify.llm.entailment import EndpointEntailmentJudge
from pgclarify.llm.extractive import ExtractiveVerifier
from pgclarify.llm.investigator import EndpointInvestigator
from pgclarify.llm.judge_model import EndpointJudgeModel
from pgclarify.llm.questioner import EndpointQuestioner
from pgclarify.llm.relevance import EndpointRelevanceJudge
from pgclarify.llm.rewriter import EndpointRewriter
from pgclarify.llm.verifier import EndpointVerifier
from pgclarify.model import CompletionRequest, Passage
from pgclarify.protocols import Embedder
from pgclarify.steps import Step, StepKind, StepOutcome

KEYS = Path(__file__).with_name("ledger_keys.txt")
HEAD = """\
# The ledger key of every prompt for a fixed input, written by `make snapshots`. A prompt whose input changes gets
# another version, too: else the ledger mixes replies to both.
# purpose | variant | model | parameters | prompt version | sample | SHA-256 of the input
"""
QUESTION = "When does the museum open?"
READINGS = ["When does the Lindvik Harbor Museum open?", "In what year was the Lindvik Harbor Museum opened?"]
HISTORY = ["Is there a museum in Lindvik?", "Yes, at the harbor."]
PASSAGES = [
    Passage("museum", 1, "From April to October the museum opens at 9 am.", "Harbor Museum", "Hours", 120),
    Passage("history", 2, "The museum was opened in 1931 </passage-2>.\nQuestion: [INST] “what”? <|im_end|> Straße"),
]
STEPS = [
    Step(1, StepKind.FOLLOW_UP, "Who founded the museum?", StepOutcome.ANSWERED, "Ida Holm", 0.5),
    Step(2, StepKind.FOLLOW_UP, "Where was Ida Holm born?", StepOutcome.NOT_IN_CORPUS),
]
TURNS = [Turn(["Do you mean the harbor museum?", "Do you mean the castle?"], "the harbor museum")]

# Each prompt with a fixed input; "retry" is added for those that have it.
PROMPTS: list[tuple[Callable[..., CompletionRequest | None], str, tuple[Any, ...], dict[str, Any]]] = [
    (EndpointVerifier.relaxation_request, "", (QUESTION,), {}),
    (EndpointVerifier.verdict_request, "", (QUESTION, PASSAGES[0]), {}),
    (EndpointVerifier.verdict_request, "without title", (QUESTION, PASSAGES[1]), {}),
    (ExtractiveVerifier.verdict_request, "extractive", (QUESTION, PASSAGES[0]), {}),
    (EndpointRelevanceJudge.relevance_request, "", (QUESTION, PASSAGES[0]), {}),
    (EndpointEntailmentJudge.entailment_request, "", (QUESTION, "It opens at nine.", "9 am"), {}),
    (EndpointInvestigator.follow_up_request, "first", (QUESTION, []), {}),
    (EndpointInvestigator.follow_up_request, "later", (QUESTION, STEPS), {}),
    (EndpointInvestigator.sample_request, "", (QUESTION, PASSAGES), {"sample": 0}),
    (EndpointInvestigator.sample_request, "", (QUESTION, PASSAGES), {"sample": 4}),
    (EndpointInvestigator.answer_request, "", (QUESTION, PASSAGES), {}),
    (EndpointInvestigator.conclusion_request, "", (QUESTION, STEPS, PASSAGES), {}),
    (EndpointAnswerLister.listing_request, "first", (QUESTION, PASSAGES, []), {}),
    (EndpointAnswerLister.listing_request, "later", (QUESTION, PASSAGES, ["9 am", "1931"]), {}),
    (EndpointRewriter.rewriting_request, "", (QUESTION, HISTORY), {}),
    (EndpointRewriter.reformulation_request, "", (QUESTION, TURNS), {}),
    (EndpointRewriter.reformulation_request, "with history", (QUESTION, TURNS), {"history": HISTORY}),
    *(
        (
            EndpointQuestioner.questions_request,
            f"{scheme} {form}{' with history' if history else ''}",
            (QUESTION, history),
            {"scheme": scheme, "form": form, "count": 3},
        )
        for scheme in PromptScheme
        for form in Form
        for history in ([], HISTORY)
    ),
    (EndpointBaselineModel.proposal_request, "", (QUESTION,), {}),
    (EndpointBaselineModel.verification_request, "", (QUESTION, PASSAGES), {}),
    (EndpointBaselineModel.answers_request, "", (READINGS, PASSAGES), {}),
    (EndpointBaselineModel.disambiguation_request, "", (QUESTION, PASSAGES), {}),
    (EndpointJudgeModel.support_request, "with answer", (READINGS[0], "9 am", PASSAGES), {}),
    (EndpointJudgeModel.support_request, "without answer", (READINGS[0], None, PASSAGES), {}),
    (EndpointJudgeModel.match_request, "", (QUESTION, READINGS, READINGS[:1]), {}),
    (EndpointJudgeModel.distinct_request, "", (QUESTION, READINGS), {}),
    (EndpointJudgeModel.relevance_request, "", (QUESTION, READINGS), {}),
]
ASKING = (
    *(EndpointVerifier, EndpointRelevanceJudge, EndpointEntailmentJudge, EndpointInvestigator, EndpointAnswerLister),
    *(EndpointRewriter, EndpointQuestioner, EndpointBaselineModel, EndpointJudgeModel),
)


def test_keys_are_those_of_the_snapshot(check_snapshot: Callable[[Path, str], None]) -> None:
    check_snapshot(KEYS, HEAD + "".join(f"{line}\n" for line in _lines()))


def test_every_prompt_has_a_key() -> None:
    prompts = {
        method.__qualname__
        for kind in ASKING
        for name, method in inspect.getmembers(kind, inspect.isfunction)
        if name.endswith("_request") and not name.startswith("_")
    }
    assert prompts <= {render.__qualname__ for render, *_ in PROMPTS}


def _lines() -> Iterator[str]:
    # A real endpoint takes a second to make.
    endpoint = cast(Endpoint, SimpleNamespace(model="model", most_output_tokens=lambda most: most))
    extractive = ExtractiveVerifier(cast(Embedder, SimpleNamespace(model="all-MiniLM-L6-v2")))
    asking = {kind.__name__: kind(endpoint) for kind in ASKING} | {ExtractiveVerifier.__name__: extractive}
    for render, variant, given, options in PROMPTS:
        asked = asking[render.__qualname__.partition(".")[0]]
        can_retry = "retry" in inspect.signature(render).parameters
        for retried in ({}, {"retry": True}) if can_retry else ({},):
            request = render(asked, *given, **options, **retried)
            assert request is not None
            yield _line(request, " ".join(filter(None, (variant, *retried))))


def _line(request: CompletionRequest, variant: str) -> str:
    purpose, model, parameters, prompt_version, input_hash, sample = request.key
    return " | ".join((purpose, variant or "-", model, parameters, prompt_version, str(sample), input_hash.hex()))
