"""The most calls of a case."""

from __future__ import annotations

from typing import Any

import pytest

from pgclarify.evaluated import Case, GoldInterpretation
from pgclarify.evaluation.configurations import METHODS, REWRITING, Configuration
from pgclarify.evaluation.estimate import calls_of_a_case, judge_calls_of_a_case


def of(method: str, **settings: Any) -> Configuration:
    return Configuration(method, method, None, settings)


@pytest.mark.parametrize(
    ("configuration", "calls"),
    [
        (of("clarify"), 21),
        (of("clarify", top_k=5), 6),
        (of("clarify", budget=8), 9),
        (of("clarify", retrieval="adaptive", budget=50), 51),
        (of("clarify", retrieval="adaptive", top_k=10), 11),
        (of("clarify", top_k=10, reranker="signal"), 11),
        (of("clarify", top_k=5, reranker="model", budget=3), 104),
        # Passages are ranked for the question and for the relaxed question.
        (of("clarify", retrieval="adaptive", top_k=10, reranker="model", budget=30), 231),
        (of("clarify", top_k=5, ask_back="auto"), 7),
        (of("clarify", top_k=6, verify="model"), 1 + 6 + 2),
        # One call confirms each batch, and a batch may have a single passage.
        (of("clarify", retrieval="adaptive", budget=50, verify="model"), 1 + 50 + 50),
        (of("clarify", top_k=5, ask_back="auto", verify="model"), 2 + 1 + 5 + 1),
        # Each passage may be a window.
        (of("list_answers", max_answers=3), 2 * (3 + 20 + 4)),
        (of("list_answers", max_answers=3, top_k=5, reranker="model"), 2 * (3 + 5 + 4) + 100),
        (of("investigate", max_calls=12), 12),
        (of("search"), 0),
        (of("search", reranker="model"), 100),
        (of("search", reranker="model", budget=40), 40),
        (of("detect_ambiguity"), 0),
        (of("rewrite"), 1),
        (of("rewrite_ambiguous"), 1),
        (of("always_rewrite"), 1),
        (of("few_shot"), 2),
        (of("logistic_regression"), 1),
        (of("clarifying_questions"), 1 + 3 * 4),
        (of("clarifying_questions", check="mark"), 1 + 4),
        (of("clarifying_questions", form="select"), 1 + 5 * 4),
        (of("clarifying_questions", count=3, top_k=2), 1 + 3 * 2),
        (of("clarifying_questions", check="none", count=3), 1),
        # Three turns, each with a question, a reply and a reformulation.
        (of("simulated_user", check="none"), 3 * 3),
        (of("simulated_user"), 3 * (1 + 3 * 4 + 2)),
        (of("simulated_user", form="select", check="none"), 3 * 2),
        (of("human"), 0),
        (of("dtv"), 7),
        (of("dtv_unverified"), 2),
        (of("rac", top_k=50), 2),
        (of("one_pass", top_k=50), 1),
        (of("self_ask"), 5 + 4),
        (of("self_ask", max_steps=2), 3 + 2),
        # The length of passages is unknown, so each may be a window.
        (of("list_at_once"), 20),
    ],
)
def test_calls_of_a_case(configuration: Configuration, calls: int) -> None:
    assert sum(calls_of_a_case(configuration).values()) == calls


@pytest.mark.parametrize(
    ("settings", "passage_chars", "windows"),
    [
        ({}, 500.0, 2),
        ({"top_k": 100}, 500.0, 9),
        ({"top_k": 100, "evidence_tokens": 100_000}, 500.0, 1),
        ({"top_k": 100, "evidence_tokens": 100}, 500.0, 100),
    ],
)
def test_a_list_has_as_many_windows_as_its_passages_need(
    settings: dict[str, Any], passage_chars: float, windows: int
) -> None:
    configuration = of("list_answers", max_answers=3, **settings)
    assert calls_of_a_case(configuration, passage_chars) == {"listing": 2 * (3 + windows + 4)}


@pytest.mark.parametrize("method", METHODS)
def test_calls_of_the_judge(method: str) -> None:
    reading = GoldInterpretation("q?", ("a",))
    known = [
        Case("1", "q", (reading, reading)),
        Case("2", "q", answer_sets=((("a",), ("b",)), (("c",),))),
        Case("3", "q"),
    ]
    calls = judge_calls_of_a_case(of(method), known)
    if method in ("search", "detect_ambiguity", "clarifying_questions", "simulated_user") or method in REWRITING:
        assert not calls
    else:
        assert calls["judge_support"] > 4 / 3
        assert calls["judge_relevance"] == 1
        of_support = judge_calls_of_a_case(of(method), known, only_support=True)
        assert of_support.keys() == {"judge_support"}
        assert of_support["judge_support"] < calls["judge_support"]


def test_each_citation_is_judged_where_no_documents_are_known() -> None:
    reading = GoldInterpretation("q?", ("a",))
    unknown, known = Case("1", "q", (reading,)), Case("1", "q", (reading,), document_ids=("d",))
    calls = [
        judge_calls_of_a_case(of("list_answers", max_answers=4), [case])["judge_support"] for case in (unknown, known)
    ]
    assert calls == [13, 9]
    assert judge_calls_of_a_case(of("clarify", top_k=7), [unknown])["judge_support"] == 15
