"""What an evaluation will take of a language model, before it starts: calls at most, and tokens about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

from pgclarify.evaluated import Case, EvaluationPlan, TokenAverages
from pgclarify.evaluation.configurations import Configuration
from pgclarify.evaluation.opening import Bench
from pgclarify.pipelines.calls import CALLS_TO_ANSWER

# What operations do where their settings do not say: as in SQL.
_CLARIFY_TOP_K: Final = 20
_MAX_CALLS: Final = 60
_MAX_ANSWERS: Final = 10
_RERANKED: Final = 100
# A list ends after so many rounds that brought nothing.
_SPARE_ROUNDS: Final = 5
_MOST_PROPOSED: Final = 5
# About as many tokens has what a prompt says beside the passages, and a reply; a token has about four characters.
_PROMPT_TOKENS: Final = 500
_REPLY_TOKENS: Final = 60
_TOKEN_CHARS: Final = 4
# How many questions are searched for passages to measure.
_MEASURED_QUESTIONS: Final = 3
_MEASURED_PASSAGES: Final = 10
# Among so many of the latest evaluations, one that was not finished is looked for.
_LOOKED_AT: Final = 1_000

# How many passages a request of a purpose shows; none where it is not named.
_SHOWN: Final[Mapping[str, int]] = {"verdict": 1, "relevance": 1, "answer": 5, "listing": 20}
# Those of baselines show as many as the configuration says, so that the mean of all that were made tells nothing.
_OF_SEVERAL: Final = frozenset({"baseline_verification", "baseline_answers", "baseline_disambiguation"})


@dataclass(frozen=True, slots=True)
class Estimate:
    """What one configuration will take.

    Attributes:
        configuration: Which.
        cases: How many there are.
        done: How many of them an earlier start has judged.
        calls: Calls of the language model for the others, at most, but for replies that do not fit and are asked again.
        paid: How many of these an earlier run is known to have paid for; 0 where that is not known.
        prompt_tokens: About as many input tokens have all of these calls.
        completion_tokens: About as many output tokens.
        judge_calls: Calls of the judge for them, at most.
        measured_calls: From how many calls of the ledger the tokens were worked out; 0 if from the length of passages.
    """

    configuration: Configuration
    cases: int
    done: int
    calls: int
    paid: int
    prompt_tokens: int
    completion_tokens: int
    judge_calls: int
    measured_calls: int

    @property
    def may_cost(self) -> bool:
        """Whether calls may have to be paid for."""
        return self.calls > self.paid or self.judge_calls > 0


async def estimate(bench: Bench, configuration: Configuration, plan: EvaluationPlan, cases: Sequence[Case]) -> Estimate:
    """Estimate one configuration.

    Args:
        bench: What is evaluated on.
        configuration: Which.
        plan: Of its evaluation.
        cases: All of them.

    Raises:
        PgclarifyError: If the server refuses.
    """
    done = await _done(bench, plan)
    left = len(cases) - done
    has_model = bench.living.provider != "extractive"
    each = calls_of_a_case(configuration) if has_model else {}
    judged = {} if plan.judge == "lexical" else judge_calls_of_a_case(configuration, cases)
    averages = await bench.tables.token_averages(bench.living.model, bench.living.prompt_version) if each else {}
    # Where the ledger knows all purposes, passages need not be measured.
    length = 0.0 if set(each) <= set(averages) - _OF_SEVERAL else await _passage_chars(bench, cases)
    tokens = [_tokens(configuration, purpose, averages.get(purpose), length) for purpose in each]
    return Estimate(
        configuration=configuration,
        cases=len(cases),
        done=done,
        calls=left * sum(each.values()),
        paid=await _paid(bench, configuration, cases, each, share=left / len(cases)),
        prompt_tokens=round(left * sum(calls * one[0] for calls, one in zip(each.values(), tokens, strict=True))),
        completion_tokens=round(left * sum(calls * one[1] for calls, one in zip(each.values(), tokens, strict=True))),
        judge_calls=round(left * sum(judged.values())),
        measured_calls=sum(averages[purpose].calls for purpose in each if purpose in averages.keys() - _OF_SEVERAL),
    )


def calls_of_a_case(configuration: Configuration) -> dict[str, int]:
    """How many calls one case takes at most, by purpose; none where no language model is asked."""
    settings = configuration.with_defaults()
    match configuration.method:
        case "clarify":
            top_k = settings.get("top_k", _CLARIFY_TOP_K)
            most = settings.get("budget", top_k)
            judged = min(top_k, most) if settings.get("retrieval") != "adaptive" else most
            return {"relaxation": 1, "verdict": judged, **_reranked(settings)}
        case "list_answers":
            rounds = settings.get("max_answers", _MAX_ANSWERS) + _SPARE_ROUNDS
            return {"listing": CALLS_TO_ANSWER * rounds, **_reranked(settings)}
        case "investigate":
            return {"answer": settings.get("max_calls", _MAX_CALLS)}
        case "search":
            return _reranked(settings)
        case "dtv":
            return {"baseline_proposal": 1, "baseline_verification": _MOST_PROPOSED, "baseline_disambiguation": 1}
        case "dtv_unverified":
            return {"baseline_proposal": 1, "baseline_answers": 1}
        case "rac":
            return {"relaxation": 1, "baseline_disambiguation": 1}
        case _:
            return {}


def judge_calls_of_a_case(configuration: Configuration, cases: Sequence[Case]) -> dict[str, float]:
    """How many calls of a judge that is a model one case takes at most, by purpose.

    One for each reading and passage that it cites, one for each known reading, and some that are about all of them.
    """
    known = fmean(len(case.interpretations) or max(map(len, case.answer_sets), default=0) for case in cases)
    settings = configuration.with_defaults()
    given: float
    match configuration.method:
        case "search" | "detect_ambiguity":
            return {}
        case "clarify":
            given = calls_of_a_case(configuration)["verdict"]
        case "list_answers":
            given = settings.get("max_answers", _MAX_ANSWERS)
        case "investigate":
            given = 1
        case "human":
            given = known
        case _:
            given = _MOST_PROPOSED
    return {"judge_support": given + known, "judge_match": 2, "judge_distinct": 2, "judge_relevance": 1}


def _reranked(settings: Mapping[str, Any]) -> dict[str, int]:
    return {"relevance": settings.get("budget", _RERANKED)} if settings.get("reranker") == "model" else {}


def _tokens(
    configuration: Configuration, purpose: str, average: TokenAverages | None, passage_chars: float
) -> tuple[float, float]:
    """Input and output tokens of a call."""
    reply = _REPLY_TOKENS if average is None else average.completion_tokens
    if average is not None and purpose not in _OF_SEVERAL:
        return average.prompt_tokens, reply
    settings = configuration.with_defaults()
    shown = _SHOWN.get(purpose, 0)
    if purpose in _OF_SEVERAL:
        shown = settings["top_k"] if configuration.method == "rac" else settings["passages_kept"]
    return _PROMPT_TOKENS + shown * passage_chars / _TOKEN_CHARS, reply


async def _passage_chars(bench: Bench, cases: Sequence[Case]) -> float:
    """How long passages are that are found for the first questions; the search takes no language model."""
    lengths: list[int] = []
    for case in cases[:_MEASURED_QUESTIONS]:
        found = await bench.asking.client.search(
            case.question, corpus=bench.corpus.name, top_k=_MEASURED_PASSAGES, method="lexical"
        )
        lengths += [len(one.content) for one in found]
    return fmean(lengths) if lengths else 0.0


async def _done(bench: Bench, plan: EvaluationPlan) -> int:
    for one in await bench.tables.evaluations(_LOOKED_AT):
        if one.finished_at is None and one.requested_by == bench.role and one.plan.kind == plan.kind:
            return one.done_cases
    return 0


async def _paid(
    bench: Bench, configuration: Configuration, cases: Sequence[Case], each: Mapping[str, int], *, share: float
) -> int:
    if configuration.method != "clarify" or not each:
        return 0
    paid = await bench.tables.paid_verdicts(
        bench.corpus.corpus_id,
        bench.living.model,
        bench.living.prompt_version,
        [case.question for case in cases],
        top_k=each["verdict"],
    )
    return round(paid * share)
