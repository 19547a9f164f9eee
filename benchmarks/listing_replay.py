"""Carries out questions of list_answers and list_at_once again, with the replies of the ledger and without calls."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pgclarify.algorithms import find_variant
from pgclarify.algorithms.metrics import answer_set_scores, cover_exact_match, exact_match
from pgclarify.database.evaluations import EvaluationTables
from pgclarify.errors import EndpointFailed, InvalidReply
from pgclarify.evaluated import Case, EvaluatedCase, Evaluation, GoldInterpretation
from pgclarify.evaluation.baselines import Asked
from pgclarify.evaluation.configurations import BASELINE_SETTINGS
from pgclarify.evaluation.listing_baseline import ListAtOnce
from pgclarify.ledger.calls import Unproven
from pgclarify.model import Candidate, Passage
from pgclarify.model_calls import Completion, CompletionRequest, ModelCall
from pgclarify.operations.execution import execute
from pgclarify.operations.judging.proof import prove_told
from pgclarify.operations.retrieval.evidence import passage_text, split_evidence
from pgclarify.prompts.fencing import fenced_passages
from pgclarify.prompts.findings import read_finding
from pgclarify.protocols import Begin
from pgclarify.providers.chat_model import ChatModel
from pgclarify.providers.endpoint import Endpoint
from pgclarify.steps import Finding
from tests.fakes import FakeDialogueStore, FakeEmbedder, FakeExplorationStore, FakeLedger, FakeStore
from tests.fakes.context import context_of

ONE_BY_ONE: Final = "list_answers"
AT_ONCE: Final = "list_at_once"

# What a request of list_answers is for.
FIRST: Final = "first requests of a window"
LATER: Final = "requests of its later rounds"
SECOND: Final = "second requests of a round"

_SEVERAL: Final = "answers=several"
_KEPT: Final = """
    select purpose, model, parameters, prompt_version, input_hash, sample, reply from pgclarify_private.completion
    where purpose in ('listing', 'baseline_listing') and model = %(model)s and reply is not null
"""
_SETTINGS: Final = "select settings from pgclarify.run where run_id = %(run_id)s"

Key = tuple[str, str, str, str, bytes, int]
Golds = Sequence[Sequence[Sequence[str]]]


@dataclass(frozen=True)
class Proposal:
    """An answer in a reply.

    Attributes:
        answer: The answer.
        quote: Its quote.
        passage: The passage that it names; None if there is no such number.
        refusal: Why it does not count, without regard to earlier answers; None if it is proven.
    """

    answer: str
    quote: str
    passage: Passage | None
    refusal: str | None

    @property
    def is_in_passage(self) -> bool:
        return self.passage is not None and cover_exact_match(passage_text(self.passage), [self.answer])


@dataclass(frozen=True)
class Reply:
    """A reply to one request.

    Attributes:
        proposals: Its answers; None if it could not be read.
        window: The place of its window, from 0.
        is_second: Whether the request is the second of its round, because the first reply could not be used.
    """

    proposals: Sequence[Proposal] | None
    window: int
    is_second: bool


@dataclass(frozen=True)
class Listed:
    """A question, carried out again.

    Attributes:
        case: The question, with the output of the evaluation.
        golds: The known answers, a set for each person.
        passages: What was searched.
        windows: How many windows they fill.
        replies: In order.
        given: The answers of the method.
        most: The limit of answers.
    """

    case: EvaluatedCase
    golds: Golds
    passages: Sequence[Passage]
    windows: int
    replies: Sequence[Reply]
    given: Sequence[str]
    most: int

    @property
    def proposals(self) -> list[Proposal]:
        return [one for reply in self.replies for one in reply.proposals or ()]

    def rounds(self) -> list[tuple[str, list[str]]]:
        """For each reply, the kind of its request, and the answers that it adds to the list."""
        end, found, begun = 0, [], set[int]()
        for reply in self.replies:
            kind = SECOND if reply.is_second else LATER if reply.window in begun else FIRST
            begun.add(reply.window)
            start = end
            for one in reply.proposals or ():
                # Answers are listed in the order in which they were found.
                end += end < len(self.given) and one.refusal is None and one.answer == self.given[end]
            found.append((kind, list(self.given[start:end])))
        return found

    @property
    def is_as_stored(self) -> bool:
        return list(self.given) == [one["answer"] for one in self.case.output["interpretations"]]

    @property
    def has_several(self) -> bool:
        return _SEVERAL in self.case.gold["strata"]

    def is_known(self, answer: str) -> bool:
        return any(exact_match(answer, names) for golds in self.golds for names in golds)

    def standing(self) -> list[str]:
        """A spelling of each known answer that the passages have, for the person with most of them."""
        texts = [passage_text(one) for one in self.passages]
        found = [
            [names[0] for names in golds if any(cover_exact_match(text, names) for text in texts)]
            for golds in self.golds
        ]
        return max(found, key=len)

    def named(self, *, proven: bool) -> list[str]:
        """All answers that replies name, each once, or those with a proof; at most as many as the method may give."""
        return different(one.answer for one in self.proposals if not proven or one.refusal is None)[: self.most]

    def f1(self, answers: Sequence[str]) -> float:
        return answer_set_scores(answers, self.golds).f1


def different(answers: Iterable[str]) -> list[str]:
    """Return answers in their first spelling, each once."""
    spellings: list[list[str]] = []
    for answer in answers:
        place = find_variant(answer, spellings)
        if place is None:
            spellings.append([answer])
        else:
            spellings[place].append(answer)
    return [variants[0] for variants in spellings]


class _Kept:
    """Answers requests from the ledger, and remembers them. Implements protocols.Completer."""

    def __init__(self, chat: ChatModel, kept: Mapping[Key, str]) -> None:
        self.read: list[tuple[CompletionRequest, ModelCall[Any], Completion]] = []
        self.is_complete = True
        self.provider, self.model, self.adapt = chat.provider, chat.model, chat.adapt
        self._chat = chat
        self._kept = kept
        self._calls: dict[Key, ModelCall[Any]] = {}

    def request(self, call: ModelCall[Any]) -> CompletionRequest:
        request = self._chat.request(call)
        self._calls[request.key] = call
        return request

    async def complete(self, request: CompletionRequest, begin: Begin | None = None) -> Completion:
        reply = self._kept.get(request.key)
        if reply is None:
            self.is_complete = False
            raise EndpointFailed("the ledger has no reply to this request")
        completion = Completion(reply, None, None, 0.0)
        self.read.append((request, self._calls[request.key], completion))
        return completion


class _Found:
    """Finds the passages of a case. Implements protocols.Retriever."""

    def __init__(self, passages: list[Passage]) -> None:
        self._passages = passages

    async def search(self, question: str, top_k: int) -> list[Passage]:
        return self._passages


async def _replay(
    case: EvaluatedCase, settings: Mapping[str, Any], passages: list[Passage], completer: _Kept, *, is_at_once: bool
) -> Listed | None:
    """Carry out a question again; None if the ledger lacks a reply, or no answers are known."""
    readings = tuple(GoldInterpretation(None, tuple(one["answers"])) for one in case.gold["interpretations"])
    golds = Case(case.case_id, case.question, readings, case.gold["answer_sets"]).known_answers
    limits = {name: settings[name] for name in ("top_k", "evidence_tokens", "max_answers")}
    carry_out = _at_once if is_at_once else _one_by_one
    given = await carry_out(case, passages, completer, limits)
    if not completer.is_complete or not golds:
        return None
    ranked = [Candidate(rank, passage, 0.0, "") for rank, passage in enumerate(passages, start=1)]
    windows = split_evidence(ranked, limits["evidence_tokens"])
    shown = [fenced_passages([one.passage for one in window]) for window in windows]
    replies = []
    for request, call, completion in completer.read:
        place = next(place for place, text in enumerate(shown) if text in request.messages[-1].content)
        # list_answers also compares the answer with earlier ones when it reads a reply.
        findings = call.read if is_at_once else _read_one
        replies.append(
            Reply(_proposals(findings, completion, windows[place], case.question), place, request.sample == 1)
        )
    return Listed(case, golds, passages, len(windows), replies, given, limits["max_answers"])


async def _one_by_one(
    case: EvaluatedCase, passages: list[Passage], completer: _Kept, limits: Mapping[str, int]
) -> list[str]:
    store = FakeStore(passages)
    # The passages are already ranked, so no vector and no reranker is needed.
    run = store.add_run(case.question, operation=ONE_BY_ONE, settings={**limits, "search": "lexical"})
    dialogue = FakeDialogueStore(store)
    exploration = FakeExplorationStore(store, passages)
    await execute(context_of(run, store, completer, passages=exploration, dialogue=dialogue))
    return [one.answer for one in dialogue.answers.get(run.run_id, ())]


async def _at_once(
    case: EvaluatedCase, passages: list[Passage], completer: _Kept, limits: Mapping[str, int]
) -> list[str]:
    asked = Asked(FakeLedger(), completer, _Found(passages), FakeEmbedder())
    output = await ListAtOnce(asked, **limits).answer(Case(case.case_id, case.question))
    return [one.answer for one in output.interpretations if one.answer]


def _read_one(completion: Completion) -> list[Finding]:
    return [read_finding(completion)]


def _proposals(
    read: Callable[[Completion], list[Finding]], completion: Completion, shown: Sequence[Candidate], asked: str
) -> list[Proposal] | None:
    try:
        findings = read(completion)
    except InvalidReply:
        return None
    found = []
    for one in findings:
        if one.answer is not None:
            (evidence,) = one.evidence
            named = shown[evidence.passage - 1].passage if 1 <= evidence.passage <= len(shown) else None
            found.append(Proposal(one.answer, evidence.quote, named, _refusal(one, shown, asked)))
    return found


def _refusal(finding: Finding, shown: Sequence[Candidate], asked: str) -> str | None:
    try:
        prove_told(finding, shown, asked=asked)
    except Unproven as error:
        return error.message
    return None


async def read(stored: EvaluationTables, reference: str) -> tuple[Evaluation, list[Listed]]:
    """Carry out an evaluation again, without the questions for which a passage or a reply is gone."""
    evaluation = await stored.find(reference)
    if evaluation.plan.method not in (ONE_BY_ONE, AT_ONCE):
        raise SystemExit(f"evaluation {reference} is not of {ONE_BY_ONE} or {AT_ONCE}")
    async with stored.pool.connection() as connection:
        rows = await (await connection.execute(_KEPT, {"model": evaluation.plan.model})).fetchall()
    kept = {
        (
            row["purpose"],
            row["model"],
            json.dumps(row["parameters"], sort_keys=True, separators=(",", ":")),
            row["prompt_version"],
            row["input_hash"],
            row["sample"],
        ): row["reply"]
        for row in rows
    }
    is_at_once = evaluation.plan.method == AT_ONCE
    found = []
    async with Endpoint(model=evaluation.plan.model, base_url="http://localhost") as endpoint:
        for case in await stored.cases(evaluation.eval_run_id):
            settings = evaluation.plan.settings if is_at_once else await _settings(stored, case)
            if settings is not None:
                settings = {**BASELINE_SETTINGS[AT_ONCE], **settings}
                passages = await _passages(stored, evaluation.plan.corpus_id, case)
                if passages is None:
                    continue
                completer = _Kept(ChatModel(endpoint), kept)
                found.append(await _replay(case, settings, passages, completer, is_at_once=is_at_once))
    return evaluation, [one for one in found if one is not None]


async def _settings(stored: EvaluationTables, case: EvaluatedCase) -> Mapping[str, Any] | None:
    """Return the settings of the run that answered a case, with their defaults; None if the run is gone."""
    async with stored.pool.connection() as connection:
        row = await (await connection.execute(_SETTINGS, {"run_id": case.run_id})).fetchone()
    return None if row is None else row["settings"]


async def _passages(stored: EvaluationTables, corpus_id: int, case: EvaluatedCase) -> list[Passage] | None:
    """Return the passages that a case found; None if one of them is no longer there."""
    keys = [(one["document_id"], one["passage_id"]) for one in case.output["retrieved"]]
    rows = await stored.fetch(
        "eval_read_passages",
        corpus_id=corpus_id,
        document_ids=[document_id for document_id, _ in keys],
        passage_ids=[passage_id for _, passage_id in keys],
    )
    there = {(row["document_id"], row["passage_id"]): Passage(**row) for row in rows}
    return [there[key] for key in keys] if there.keys() >= set(keys) else None
