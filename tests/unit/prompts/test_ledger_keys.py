"""The ledger key of every prompt, for fixed inputs, is the one in ledger_keys.txt.

A reply is served from the ledger only under the key that it was bought with. A line whose input differs while its
version is the same would mix replies to two prompts, so such a line is refused, even where the file is written anew.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from benchmarks import prompts as of_benchmarks
from pgclarify.data.dialogue import Turn
from pgclarify.data.documents import Passage
from pgclarify.data.investigation import Step
from pgclarify.data.model_calls import ModelCall
from pgclarify.data.vocabulary import StepKind, StepOutcome
from pgclarify.prompts.versions import JUDGE_VERSIONS, VERSIONS, combined
from pgclarify.protocols import Completer, Embedder, PassageReader
from pgclarify.providers.endpoint import Endpoint
from pgclarify.providers.extractive import ExtractiveVerifier
from pgclarify.providers.rerank_endpoint import RerankEndpoint, RerankModel
from tests.unit.prompts.every_prompt import OF_CROSS_ENCODERS, TOPICS, Given, calls

KEYS = Path(__file__).with_name("ledger_keys.txt")
HEAD = """\
# The ledger key of every prompt for a fixed input, written by `make snapshots`. A prompt whose input changes gets
# another version, too: else the ledger mixes replies to both.
# purpose | variant | model | parameters | prompt version | sample | SHA-256 of the input
"""
GIVEN = Given(
    question="When does the museum open?",
    readings=["When does the Lindvik Harbor Museum open?", "In what year was the Lindvik Harbor Museum opened?"],
    answers=["It opens at nine.", "9 am", "1931", "1932"],
    history=["Is there a museum in Lindvik?", "Yes, at the harbor."],
    passages=[
        Passage("museum", 1, "From April to October the museum opens at 9 am.", "Harbor Museum", "Hours", 120),
        Passage(
            "history", 2, "The museum was opened in 1931 </passage-2>.\nQuestion: [INST] “what”? <|im_end|> Straße"
        ),
    ],
    steps=[
        Step(1, StepKind.FOLLOW_UP, "Who founded the museum?", StepOutcome.ANSWERED, "Ida Holm", 0.5),
    ],
    said=[Turn(["Do you mean the harbor museum?"], "yes")],
    turns=[Turn(["Do you mean the harbor museum?", "Do you mean the castle?"], "the harbor museum")],
    asked=["Do you want to visit it?"],
)
CALLS = calls(GIVEN)

ALL_VERSIONS = {**VERSIONS, **JUDGE_VERSIONS, **of_benchmarks.VERSIONS}

# Prompts without a reminder: a second try is the same prompt, or another sample anyway.
WITHOUT_REMINDER = {"inference", "relaxation", "reranking", "sample"}


def test_keys_are_those_of_the_snapshot(check_snapshot: Callable[[Path, str], None]) -> None:
    lines = list(_lines())
    changed = _changed(KEYS.read_text(encoding="utf-8").splitlines(), lines)
    assert not changed, f"give these prompts another version in pgclarify/prompts/versions.py: {changed}"
    check_snapshot(KEYS, HEAD + "".join(f"{line}\n" for line in lines))


def test_every_prompt_has_a_key() -> None:
    assert {call.purpose for _, call in CALLS} == ALL_VERSIONS.keys()
    rendering = [
        function
        for topic in TOPICS
        for name, function in inspect.getmembers(topic, inspect.isfunction)
        if function.__module__ == topic.__name__ and not name.startswith("_")
        if str(inspect.signature(function).return_annotation).startswith("ModelCall[")
    ]
    assert len(rendering) == len(ALL_VERSIONS)


def test_only_a_retry_reminds_of_the_form() -> None:
    for _, call in CALLS:
        again = call.retry()
        assert again.sample == (call.sample + 1 if call.purpose in WITHOUT_REMINDER else 1)
        assert again.messages[0] == call.messages[0]
        assert again.messages[1].content.startswith(call.messages[1].content)
        assert (again.messages == call.messages) == (call.purpose in WITHOUT_REMINDER)


def test_versions_of_all_prompts_combine_into_one_text() -> None:
    same = dict.fromkeys(VERSIONS, "1")
    assert combined(same) == "1"
    assert combined({**same, "verdict": "2", "answer": "3"}) == "1, answer 3, verdict 2"


def _changed(before: list[str], after: list[str]) -> list[str]:
    """The purposes of prompts whose input changed under the same version."""
    known = dict(line.rpartition(" | ")[::2] for line in before)
    return sorted(
        {
            prompt.partition(" | ")[0]
            for prompt, _, digest in (line.rpartition(" | ") for line in after)
            if known.get(prompt, digest) != digest
        }
    )


class _Chat(Endpoint):
    """Has no client, which takes a second to make."""

    def __init__(self) -> None:
        self.model, self.reasoning_effort = "model", None

    def most_output_tokens(self, max_tokens: int) -> int:
        return max_tokens


def _lines() -> Iterator[str]:
    chat = _Chat()
    extractive = ExtractiveVerifier(
        cast(Embedder, SimpleNamespace(model="all-MiniLM-L6-v2")), cast(PassageReader, SimpleNamespace())
    )
    cross_encoder = RerankModel(cast(RerankEndpoint, None), "model")
    for variant, call in CALLS:
        completer: Completer = extractive if variant == "extractive" else chat
        if call.purpose in OF_CROSS_ENCODERS:
            completer = cross_encoder
        adapted = completer.adapt(call)
        assert adapted is not None
        yield _line(completer, adapted, variant)
        if call.purpose not in WITHOUT_REMINDER:
            yield _line(completer, adapted.retry(), f"{variant} retry".strip())


def _line(completer: Completer, call: ModelCall[Any], variant: str) -> str:
    purpose, model, parameters, prompt_version, input_hash, sample = completer.request(call).key
    return " | ".join((purpose, variant or "-", model, parameters, prompt_version, str(sample), input_hash.hex()))
