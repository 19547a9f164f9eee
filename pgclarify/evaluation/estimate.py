"""Estimates the model usage of an evaluation before it starts: most calls, and the approximate number of tokens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

from pgclarify.dialogue import MOST_TURNS, Form
from pgclarify.evaluated import Case, EvaluationPlan, TokenAverages
from pgclarify.evaluation.configurations import EXTRACTIVE, REWRITING, Configuration
from pgclarify.evaluation.judging import relevant_documents
from pgclarify.evaluation.opening import Bench
from pgclarify.ledger.calls import CALLS_TO_ANSWER
from pgclarify.operations.clarification.bounds import most_calls, most_calls_of_one_pass
from pgclarify.operations.judging.confirmation import AT_ONCE
from pgclarify.operations.list_answers import most_rounds
from pgclarify.vocabulary import AT_ENDPOINT

# The defaults of operations, as in SQL.
_CLARIFY_TOP_K: Final = 20
_MAX_CALLS: Final = 60
_MAX_ANSWERS: Final = 10
_LISTED_TOP_K: Final = 20
_WINDOW_TOKENS: Final = 3000
_RERANKED: Final = 100
_SEARCH: Final = "hybrid"
_RETRIEVAL: Final = "fixed"
_OFFERED: Final = 5
# Number of proposed questions if one is asked, and only a question that the documents answer.
_PROPOSED: Final = 3
_CHECKED_PASSAGES: Final = 4
_MOST_PROPOSED: Final = 5
# Approximate number of citations of a reading that has several.
_CITED_BY_A_READING: Final = 2
# Approximate tokens of a prompt without its passages, and of a reply. A token has about four characters.
_PROMPT_TOKENS: Final = 500
_REPLY_TOKENS: Final = 60
_TOKEN_CHARS: Final = 4
# Number of questions whose passages are measured.
_MEASURED_QUESTIONS: Final = 3
_MEASURED_PASSAGES: Final = 10

# Number of passages in a request by its purpose; other purposes show none.
_SHOWN: Final[Mapping[str, int]] = {
    "verdict": 1,
    "relevance": 1,
    "confirmation": AT_ONCE,
    "answer": 10,
    "one_pass": 5,
    "judge_support": 1,
}
# The configuration of a baseline sets how many passages these requests show, so the mean over earlier requests does not
# apply.
_OF_SEVERAL: Final = frozenset(
    {"baseline_verification", "baseline_answers", "baseline_disambiguation", "baseline_listing"}
)
# These methods read passages in windows, so the number of calls depends on the length of passages.
_IN_WINDOWS: Final = frozenset({"list_answers", "list_at_once"})


@dataclass(frozen=True, slots=True)
class ConfigurationEstimate:
    """The estimated usage of one configuration.

    Attributes:
        configuration: The configuration.
        cases: Number of cases.
        done: Number of cases that an earlier start has judged.
        calls: Most calls of the language model for the other cases, without second tries after replies that do not fit.
        verdicts: Most verdicts for the other cases without a language model, because the provider is extractive.
        paid: Most of these calls that earlier runs have paid for; 0 if unknown.
        prompt_tokens: Approximate input tokens of all these calls and of the judge's calls.
        completion_tokens: Approximate output tokens of the same calls.
        judge_calls: Approximate number of calls of the judge.
        measured_calls: Number of calls in the ledger that the tokens are estimated from; 0 if they are estimated from
            the length of passages.
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
    verdicts: int = 0

    @property
    def has_uncounted_calls(self) -> bool:
        """Return whether a reranker behind an endpoint is called. No figure here has its calls and tokens."""
        reranker = self.configuration.settings.get("reranker") or ""
        return self.done < self.cases and reranker.startswith(AT_ENDPOINT)

    @property
    def may_cost(self) -> bool:
        """Return whether calls may cost money."""
        return self.calls > self.paid or self.judge_calls > 0 or self.has_uncounted_calls


class Estimator:
    """Estimates the configurations of one command. Facts that they share are read once.

    Args:
        bench: The bench of the evaluation.
        cases: All of them.
        passage_chars: Approximate length of passages of a corpus that is not loaded yet; 0 if unknown.
    """

    def __init__(self, bench: Bench, cases: Sequence[Case], *, passage_chars: float = 0.0) -> None:
        self._bench = bench
        self._expected = passage_chars
        self._cases = cases
        self._known: dict[str, Mapping[str, TokenAverages]] = {}
        self._length: float | None = None

    async def estimate(self, configuration: Configuration, plan: EvaluationPlan) -> ConfigurationEstimate:
        """Estimate one configuration.

        Args:
            configuration: The configuration.
            plan: The plan of its evaluation.

        Raises:
            PgclarifyError: If the server refuses.
        """
        count = len(self._cases)
        done = await self._bench.tables.done(plan)
        left = count - done
        has_model = plan.provider != EXTRACTIVE
        # The number of windows of a list depends on the length of passages.
        length = await self._passage_chars() if has_model and configuration.method in _IN_WINDOWS else 0.0
        each = calls_of_a_case(configuration, length) if has_model else {}
        judge = plan.judging_model
        judged = (
            {}
            if judge is None
            else judge_calls_of_a_case(configuration, self._cases, only_support=plan.judges == "both")
        )
        averages = {
            **(await self._averages(judge) if judge is not None and judged else {}),
            **(await self._averages(plan.model) if each else {}),
        }
        # If the ledger has calls of all purposes, passages need not be measured.
        if not {*each, *judged} <= set(averages) - _OF_SEVERAL:
            length = await self._passage_chars()
        tokens = [
            (calls, *_tokens(configuration, purpose, averages.get(purpose), length))
            for purpose, calls in (*each.items(), *judged.items())
        ]
        return ConfigurationEstimate(
            configuration=configuration,
            cases=count,
            done=done,
            calls=left * sum(each.values()),
            verdicts=0 if has_model else left * calls_of_a_case(configuration).get("verdict", 0),
            paid=await self._paid(configuration, plan, each, share=left / count),
            prompt_tokens=round(left * sum(calls * prompt for calls, prompt, _ in tokens)),
            completion_tokens=round(left * sum(calls * reply for calls, _, reply in tokens)),
            judge_calls=round(left * sum(judged.values())),
            measured_calls=sum(
                averages[purpose].calls for purpose in (*each, *judged) if purpose in averages.keys() - _OF_SEVERAL
            ),
        )

    async def _averages(self, model: str) -> Mapping[str, TokenAverages]:
        if model not in self._known:
            self._known[model] = await self._bench.tables.token_averages(model)
        return self._known[model]

    async def _passage_chars(self) -> float:
        """Return the length of the passages found for the first questions. The search needs no language model."""
        if self._length is None:
            lengths: list[int] = []
            corpus = self._bench.corpus
            for case in self._cases[:_MEASURED_QUESTIONS] if corpus.corpus_id else ():
                found = await self._bench.asking.client.search(
                    case.question, corpus=corpus.name, top_k=_MEASURED_PASSAGES, method="lexical"
                )
                lengths += [len(one.content) for one in found]
            self._length = fmean(lengths) if lengths else 0.0 if corpus.corpus_id else self._expected
        return self._length

    async def _paid(
        self, configuration: Configuration, plan: EvaluationPlan, each: Mapping[str, int], *, share: float
    ) -> int:
        if configuration.method != "clarify" or not each:
            return 0
        settings = configuration.settings
        paid = await self._bench.tables.paid_verdicts(
            plan,
            [case.question for case in self._cases],
            search={
                "search": settings.get("search", _SEARCH),
                "reranker": settings.get("reranker"),
                "retrieval": settings.get("retrieval", _RETRIEVAL),
            },
            top_k=each["verdict"],
        )
        return min(round(paid * share), sum(each.values()) * len(self._cases))


def calls_of_a_case(configuration: Configuration, passage_chars: float = 0.0) -> dict[str, int]:
    """Return the most calls of the language model for one case, by purpose; empty if no model is asked.

    Args:
        configuration: The configuration.
        passage_chars: Length of passages; 0 if unknown.
    """
    settings = configuration.with_defaults()
    match configuration.method:
        case "clarify":
            most = Counter(most_calls({"top_k": _CLARIFY_TOP_K, **settings}, relaxes=True))
            # Calls of another model: see has_uncounted_calls.
            del most["reranking"]
            return most + Counter(most_calls_of_one_pass(settings) if settings.get("ask_back") == "auto" else {})
        case "list_answers":
            rounds = most_rounds(settings.get("max_answers", _MAX_ANSWERS), _most_windows(settings, passage_chars))
            return {"listing": CALLS_TO_ANSWER * rounds, **_reranked(settings)}
        case "investigate":
            return {"answer": settings.get("max_calls", _MAX_CALLS)}
        case "search":
            return _reranked(settings)
        case "rewrite" | "rewrite_ambiguous" | "always_rewrite" | "logistic_regression":
            return {"rewriting": 1}
        case "few_shot":
            return {"baseline_ambiguity": 1, "rewriting": 1}
        case "clarifying_questions":
            return _asked_back(settings)
        case "simulated_user":
            asked = {name: MOST_TURNS * calls for name, calls in _asked_back(settings).items()}
            if settings.get("form") == Form.SELECT:
                return {**asked, "simulated_choice": MOST_TURNS}
            return {**asked, "simulated_reply": MOST_TURNS, "reformulation": MOST_TURNS}
        case "dtv":
            return {"baseline_proposal": 1, "baseline_verification": _MOST_PROPOSED, "baseline_disambiguation": 1}
        case "dtv_unverified":
            return {"baseline_proposal": 1, "baseline_answers": 1}
        case "rac":
            return {"relaxation": 1, "baseline_disambiguation": 1}
        case "one_pass":
            return {"answer": 1}
        case "list_at_once":
            return {"baseline_listing": _most_windows(settings, passage_chars)}
        case "self_ask":
            return {"follow_up": settings["max_steps"] + 1, "answer": settings["max_steps"]}
        case _:
            return {}


def judge_calls_of_a_case(
    configuration: Configuration, cases: Sequence[Case], *, only_support: bool = False
) -> dict[str, float]:
    """Return the approximate number of calls of a judge with a model for one case, by purpose.

    There is one call for each known reading, two for each given reading, and some about all of them. If relevant
    documents are not known, each citation is judged by itself. If the model judges only support, there is at most one
    call for each, and none about all.
    """
    known = fmean(len(case.interpretations) or max(map(len, case.answer_sets), default=0) for case in cases)
    unknown = fmean(not relevant_documents(case) for case in cases)
    settings = configuration.with_defaults()
    given: float
    cited: float
    match configuration.method:
        case "search" | "detect_ambiguity" | "clarifying_questions" | "simulated_user":
            return {}
        case method if method in REWRITING:
            return {}
        case "clarify":
            # Each answering passage is cited once, for any number of readings.
            given = cited = calls_of_a_case(configuration)["verdict"]
        case "list_answers" | "list_at_once":
            given = settings.get("max_answers", _MAX_ANSWERS)
            cited = given * _CITED_BY_A_READING
        case "investigate" | "one_pass" | "self_ask":
            given, cited = 1, _CITED_BY_A_READING
        case "human":
            given, cited = known, 0
        case _:
            given = _MOST_PROPOSED
            cited = given * _CITED_BY_A_READING
    more = unknown * max(cited - given, 0)
    if only_support:
        return {"judge_support": given + more + known}
    # Each given reading is judged with its answer, and without it.
    return {"judge_support": 2 * given + more + known, "judge_match": 2, "judge_distinct": 2, "judge_relevance": 1}


def _asked_back(settings: Mapping[str, Any]) -> dict[str, int]:
    """Return the calls for one round of clarifying questions and their check."""
    check = settings.get("check", "drop")
    default = _OFFERED if settings.get("form") == Form.SELECT else _PROPOSED if check == "drop" else 1
    count = settings.get("count", default)
    checked = 0 if check == "none" else count * settings.get("top_k", _CHECKED_PASSAGES)
    return {"questions": 1, **({"verdict": checked} if checked else {})}


def _most_windows(settings: Mapping[str, Any], passage_chars: float) -> int:
    """Return the most windows of a list. Two windows in a row have more passages than fit into one."""
    top_k: int = settings.get("top_k", _LISTED_TOP_K)
    if not passage_chars:
        return top_k
    return min(top_k, int(2 * top_k * passage_chars / _window_chars(settings)) + 1)


def _window_chars(settings: Mapping[str, Any]) -> int:
    tokens: int = settings.get("evidence_tokens", _WINDOW_TOKENS)
    return tokens * _TOKEN_CHARS


def _reranked(settings: Mapping[str, Any]) -> dict[str, int]:
    return {"relevance": settings.get("budget", _RERANKED)} if settings.get("reranker") == "model" else {}


def _tokens(
    configuration: Configuration, purpose: str, average: TokenAverages | None, passage_chars: float
) -> tuple[float, float]:
    """Return input and output tokens of a call."""
    reply = _REPLY_TOKENS if average is None else average.completion_tokens
    if average is not None and purpose not in _OF_SEVERAL:
        return average.prompt_tokens, reply
    settings = configuration.with_defaults()
    shown = settings.get("top_k", _SHOWN[purpose]) if purpose == "answer" else _SHOWN.get(purpose, 0)
    if purpose in ("listing", "baseline_listing"):
        chars = min(settings.get("top_k", _LISTED_TOP_K) * passage_chars, _window_chars(settings))
        return _PROMPT_TOKENS + chars / _TOKEN_CHARS, reply
    if purpose in _OF_SEVERAL:
        shown = settings["top_k"] if configuration.method == "rac" else settings["passages_kept"]
    return _PROMPT_TOKENS + shown * passage_chars / _TOKEN_CHARS, reply
