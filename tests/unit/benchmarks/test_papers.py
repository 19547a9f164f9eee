"""The published methods of the papers, with replies from scripts."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.papers import Column, Data, Outcomes, differences_of, each, line_of, read_data
from benchmarks.papers.ambigprompt import answer_by_answer
from benchmarks.papers.at_cot import converse
from benchmarks.papers.rewrite import rewrite_where
from benchmarks.papers.scores import ndcg_at, reciprocal_rank_at
from benchmarks.papers.sunar import Retrieval, ask_oneself, interleaved, search_steps, steps_of
from benchmarks.papers.verdict import density_groups, verified_diversification
from pgclarify.data.dialogue import Form
from pgclarify.data.documents import Passage
from pgclarify.data.runs import Tally
from pgclarify.evaluation.baselines import Asked
from pgclarify.evaluation.records import Case, Output
from tests.fakes import FakeEmbedder, FakeLedger
from tests.fakes.completer import Script, ScriptedCompleter

CASE = Case("castle", "Who played the queen?")
PASSAGES = [
    Passage("film", 1, "In the film, Ida Holm plays the queen."),
    Passage("copy", 2, "The queen of the film is Ida Holm."),
    Passage("again", 3, "Ida Holm is the film's queen."),
    Passage("series", 4, "Ada Berg was the queen of the series."),
]


class Found:
    """Finds the same passages for each question, and keeps what it was asked."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.passages = list(passages)
        self.asked: list[str] = []

    async def search(self, question: str, top_k: int) -> list[Passage]:
        self.asked.append(question)
        return self.passages[:top_k]


async def no_cost(read: int, written: int) -> float | None:
    return None


def asked_of(scripts: Mapping[str, Script], passages: Sequence[Passage] = PASSAGES) -> Asked:
    return Asked(FakeLedger(), ScriptedCompleter(scripts), Found(passages), FakeEmbedder(), no_cost)


def run(pipeline: Callable[..., Awaitable[Output]], asked: Asked, case: Case = CASE, **settings: Any) -> Output:
    async def answer() -> Output:
        return await pipeline(asked, Tally(), case, **settings)

    return asyncio.run(answer())


def said(**reply: object) -> str:
    return json.dumps(reply)


def verdicts(passage: str) -> str:
    if "Ada" in passage:
        return said(interpretation="Who was the queen of the series?", answer="Ada Berg", quote="not in the passage")
    return said(interpretation="Who played the queen in the film?", answer="Ida Holm", quote=None)


def test_verdict_as_published_checks_no_quote_and_drops_a_reading_that_no_other_supports() -> None:
    scripts: dict[str, Script] = {
        "relaxation": lambda _: said(query="queen"),
        "verdict": lambda prompt: verdicts(prompt.passage),
    }
    every = run(verified_diversification, asked_of(scripts), top_k=4, consolidation="none")
    assert [one.answer for one in every.readings] == ["Ida Holm"] * 3 + ["Ada Berg"]
    assert every.notes["relaxed_question"] == "queen"

    kept = run(verified_diversification, asked_of(scripts), top_k=4)
    assert [one.answer for one in kept.readings] == ["Ida Holm"]


def test_equal_readings_are_one_group() -> None:
    equal = np.repeat(np.eye(1, 8, dtype=np.float32), 5, axis=0)
    assert len(density_groups(equal)) == 1


def test_readings_too_few_for_densities_are_all_kept() -> None:
    assert density_groups(np.eye(2, 8, dtype=np.float32)) == [0, 1]


def test_a_round_of_ambigprompt_is_told_the_answers_so_far_until_there_is_no_further_one() -> None:
    rounds = iter(["Ida Holm", "Ada Berg", None])
    asked = asked_of({"next_answer": lambda _: said(answer=next(rounds))})
    output = run(answer_by_answer, asked, top_k=4)

    assert [one.answer for one in output.readings] == ["Ida Holm", "Ada Berg"]
    chat = asked.chat
    assert isinstance(chat, ScriptedCompleter)
    assert [one.line("Found so far") for one in chat.asked("next_answer")] == ["", "Ida Holm", "Ida Holm; Ada Berg"]


def test_an_answer_that_is_repeated_ends_the_rounds() -> None:
    rounds = iter(["Ida Holm", "the Ida Holm"])
    output = run(answer_by_answer, asked_of({"next_answer": lambda _: said(answer=next(rounds))}), top_k=4)
    assert [one.answer for one in output.readings] == ["Ida Holm"]


def test_passages_of_a_repeated_answer_are_hidden_where_answers_found_are_forbidden() -> None:
    rounds = iter(["Ida Holm", "the Ida Holm", "Ada Berg", None])
    asked = asked_of({"next_answer": lambda _: said(answer=next(rounds))})
    output = run(answer_by_answer, asked, top_k=4, forbids_found=True)
    assert [one.answer for one in output.readings] == ["Ida Holm", "Ada Berg"]
    chat = asked.chat
    assert isinstance(chat, ScriptedCompleter)
    assert [len(one.passages) for one in chat.asked("next_answer")] == [4, 4, 1, 1]


class Searched:
    """The retrieval of SUNAR, without a database."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def first(self, question: str) -> list[Passage]:
        self.asked.append(question)
        return PASSAGES


@pytest.mark.parametrize(("meta", "final"), [(False, "Ortval"), (True, "Lindvik")])
def test_sunar_asks_one_sub_question_after_the_other_and_meta_evidence_corrects_the_last(
    meta: bool, final: str
) -> None:
    found = Searched()
    plan = iter([("Who played the queen?", None), ("Where was Ida Holm born?", None), (None, "Ortval")])
    answers = {"Who played the queen?": "Ida Holm", "Where was Ida Holm born?": "Ortval"}

    def follow_up(_: object) -> str:
        question, answer = next(plan)
        return said(next=question, answer=answer)

    scripts: dict[str, Script] = {
        "follow_up": follow_up,
        "answer": lambda prompt: said(
            reasoning="", evidence=[{"passage": 1, "quote": "x"}], answer=answers[prompt.question]
        ),
        "meta_evidence": lambda prompt: said(reasoning="", answer="Lindvik" if prompt.lines("Fact") else None),
    }
    settings = {"retrieval": "first", "decomposes": True, "meta": meta}
    case = Case("born", "Where was the actress of the queen born?")
    output = run(ask_oneself, asked_of(scripts), case, found=found, settings=settings)

    assert found.asked == list(answers)
    assert [one.answer for one in output.readings] == [final]


class Graph(Retrieval):
    """Finds one passage, which has one neighbor."""

    def __init__(self) -> None:
        super().__init__(None, None, FakeEmbedder())  # type: ignore[arg-type]

    async def first(self, question: str) -> list[Passage]:
        return PASSAGES[:2]

    async def _neighbors(self, passage: Passage, k: int) -> list[Passage]:
        return PASSAGES[3:] if k else []


def test_exploration_scores_neighbors_and_divides_by_the_number_of_different_answers() -> None:
    async def two_answers(question: str, passages: Sequence[Passage]) -> int:
        return 2 if passages[0].document_id == "film" else 1

    question = "queen of the film"
    plain = asyncio.run(Graph().explore(question, budget=10))
    assert {one.document_id for one in plain} == {"film", "copy", "series"}
    assert {one.document_id for one in asyncio.run(Graph().explore(question, budget=10, neighbors=0))} == {
        "film",
        "copy",
    }
    assert plain[0].document_id == "copy"
    penalized = asyncio.run(Graph().explore(question, budget=10, penalty=two_answers))
    assert penalized[0].document_id == "series"


def test_rankings_of_several_steps_are_interleaved() -> None:
    film, copy, again, series = PASSAGES
    assert interleaved([[film, copy], [series, film, again]]) == [film, series, copy, again]


def data_of(tmp_path: Path, **line: object) -> Data:
    (tmp_path / "set.questions.jsonl").write_text(json.dumps(line))
    return read_data(tmp_path, "set")


def test_a_step_of_the_data_set_gets_the_answers_of_earlier_ones(tmp_path: Path) -> None:
    steps = [{"question": "Van Hook >> county", "answer": "Mountrail"}, {"question": "#1 >> capital", "answer": "x"}]
    data = data_of(tmp_path, id="1", question="What is the seat?", decomposition=steps)
    (case,) = data.cases.cases
    assert steps_of(data, case) == ["Van Hook: county", "Mountrail: capital"]
    assert line_of(data, case)["id"] == "1"


def test_answers_that_differ_lower_the_passages_of_a_known_step(tmp_path: Path) -> None:
    steps = [{"question": "queen of the film", "answer": "Ida Holm"}]
    data = data_of(tmp_path, id="1", question="Where was she born?", decomposition=steps)
    (case,) = data.cases.cases
    answers = iter(["Ida Holm", "Ada Berg", "Ada Berg", "Ada Berg"])
    scripts: dict[str, Script] = {"sample": lambda _: said(reasoning="", answer=next(answers))}
    settings = {"retrieval": "explored", "budget": 10, "samples": 2}
    output = run(search_steps, asked_of(scripts), case, data=data, found=Graph(), settings=settings)
    assert next(one.document_id for one in output.retrieved) == "series"


@pytest.mark.parametrize("turns", [1, 2])
def test_a_simulated_user_chooses_and_the_conversation_goes_on_with_what_was_chosen(tmp_path: Path, turns: int) -> None:
    data = data_of(tmp_path, id="1", question="harbor fee", intent="the fee of a season")
    scripts: dict[str, Script] = {
        "scheme": lambda prompt: said(questions=[f"{prompt.question} a night", f"{prompt.question} a season"]),
        "simulated_choice": lambda _: said(choice=2),
    }
    asked = asked_of(scripts)
    (case,) = data.cases.cases
    output = run(converse, asked, case, data=data, scheme="standard", form=Form.SELECT, turns=turns)
    assert output.questions == ("harbor fee" + " a season" * turns,)


def test_a_simulated_user_answers_and_the_query_says_it_all(tmp_path: Path) -> None:
    data = data_of(tmp_path, id="1", question="harbor fee", intent="the fee of a season")
    scripts: dict[str, Script] = {
        "scheme": lambda prompt: said(
            types=["specify"], reasoning="", questions=[f"After {len(prompt.lines('Turn'))}?"]
        ),
        "simulated_reply": lambda _: said(reply="a season"),
        "reformulation": lambda prompt: said(question=" ".join(prompt.lines("Reply"))),
    }
    asked = asked_of(scripts)
    (case,) = data.cases.cases
    output = run(converse, asked, case, data=data, scheme="at_cot", form=Form.RESPOND, turns=2)
    assert output.questions == ("a season a season",)
    chat = asked.chat
    assert isinstance(chat, ScriptedCompleter)
    assert [len(one.lines("Turn")) for one in chat.asked("scheme")] == [0, 3]


@pytest.mark.parametrize(
    ("where", "is_vague", "question"),
    [
        ("nothing", False, "Where was she born?"),
        ("everything", False, "Where was Ida born?"),
        ("network", True, "Where was Ida born?"),
        ("network", False, "Where was she born?"),
    ],
)
def test_only_what_is_detected_is_rewritten(where: str, is_vague: bool, question: str) -> None:
    async def detect(case: Case) -> bool:
        return is_vague

    case = Case("born", "Where was she born?", history=("Who painted it?", "Ida."))
    asked = asked_of({"rewriting": lambda _: said(question="Where was Ida born?")})
    output = run(rewrite_where, asked, case, where=where, detect=detect if where == "network" else None)
    assert output.questions == (question,)


def test_gain_and_rank_of_rankings() -> None:
    assert ndcg_at(["a", "b", "c"], {"a", "c"}, 10) == pytest.approx((1 + 0.5) / (1 + 0.6309), abs=1e-3)
    assert ndcg_at(["a", "a", "c"], {"a", "c"}, 10) == 1
    assert ndcg_at(["b"], {"a"}, 10) == 0
    assert reciprocal_rank_at(["b", "b", "a"], {"a"}, 10) == 0.5
    assert reciprocal_rank_at(["b", "a"], {"a"}, 1) == 0


def test_rows_are_compared_on_the_questions_that_have_a_value_in_both() -> None:
    columns: list[str | Column] = ["calls", each("likeness", lambda _, stored: None), "coverage"]
    first = Outcomes("at_cot qulac", "one", [{"calls": 1.0}] * 3, {"likeness": [0.25, 0.9, 0.5]})
    second = Outcomes("at_cot qulac", "other", [{"calls": 3.0}] * 3, {"likeness": [0.5, None, 0.75]})
    assert differences_of(columns, first, second) == ["2.000", "0.250, 2 questions", ""]
