"""Words of the closed vocabularies, by the real way: each is reached, stored, and shown to the caller."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from itertools import count

import psycopg
import pytest

from pgclarify.data.vocabulary import (
    AmbiguityKind,
    AmbiguityType,
    BudgetPeriod,
    Mend,
    Origin,
    Outcome,
    Purpose,
    QuestionForm,
    Rating,
    Refusal,
    Route,
    RunStatus,
    StageName,
    StepKind,
    StepOutcome,
    StopCode,
)
from pgclarify.declared.words import COLUMNS, DOUBTS
from tests.integration.spending import budget
from tests.openai_server import HANG, PROSE, Behavior, Chat, Reply, Server, by_rules
from tests.sessions import Connection, scalar
from tests.workers import CORPUS, DOCUMENTS, StartWorker, until, wait_until_linked, wait_until_searchable

NOTHING = {"interpretation": None, "answer": None, "quote": None}
UNPROVEN = "Nothing of the kind stands in any passage."
IN_OTHER_WORDS = {
    "interpretation": "What does the collision damage waiver of a rented car cost?",
    "answer": "twenty-eight dollars",
    "quote": DOCUMENTS[112][1].replace("each day", "every day"),
}
TWO_STEPS = (
    "Which deductible applies to damage by hail? Which cleaning fee is charged when somebody has smoked in a car [1]?"
)
NO_SHELF = {"filter": {"shelf": "no such shelf"}}
# Why verdicts and runs abstain only where no language model judges.
OF_RULES = {StopCode.NO_LANGUAGE_MODEL, StopCode.LANGUAGE, StopCode.THRESHOLD}
# Purposes of calls that this worker does not make: of endpoints for reranking, of trials, and of evaluations.
OF_OTHERS = {
    Purpose.RERANKING, Purpose.INFERENCE, Purpose.MODEL_TRIAL,
    *(one for one in Purpose if one.startswith(("baseline_", "judge_"))),
}  # fmt: skip


@pytest.fixture
def forgetful(superuser: Connection) -> Iterator[None]:
    """No test reuses what another one has paid for."""
    yield
    superuser.execute(
        "delete from pgclarify_private.run; delete from pgclarify_private.completion; "
        "delete from pgclarify_private.budget; delete from pgclarify_private.ambiguity_rule"
    )


def ask(asker: Connection, operation: str, question: str, **options: object) -> int:
    """Submit a run and wait for its end, however it ends."""
    submit = "select pgclarify.submit(%s, %s, %s, %s)"
    run_id = int(scalar(asker, submit, operation, question, CORPUS, json.dumps(options)))
    asker.execute("select from pgclarify.wait(array[%s::bigint], '2min')", [run_id])
    return run_id


def words(connection: Connection, view: str, column: str) -> set[str]:
    """The words that a caller sees in a column of a view."""
    statement = f"select distinct {column} from {view} where {column} is not null"  # noqa: S608 - names of this file
    return {word for (word,) in connection.execute(statement.encode()).fetchall()}


def read(document: int, **changes: object) -> dict[str, object]:
    """What a model may reply about the passage of a document: right but for the changes."""
    title, content = DOCUMENTS[document]
    answer = " ".join(content.rstrip(".").split()[-4:])
    return {"interpretation": f"What does {title} say about a rental?", "answer": answer, "quote": content} | changes


def saying(replies: dict[int, Reply]) -> Behavior:
    """A model that replies so about these documents, has no answer in others, and confirms no answer."""

    def behavior(chat: Chat) -> Reply:
        if chat.purpose == "confirmation":
            return Reply(json.dumps({"confirmed": [False] * chat.schema["properties"]["confirmed"]["minItems"]}))
        shown = [document for document, (_, content) in DOCUMENTS.items() if content in (chat.passage or "")]
        return replies.get(shown[0], Reply(json.dumps(NOTHING))) if shown else by_rules(chat)

    return behavior


@pytest.mark.usefixtures("forgetful")
class TestWithALanguageModel:
    def test_a_run_has_each_status(self, asker: Connection, model: Server) -> None:
        asker.autocommit = False
        scalar(asker, "select pgclarify.submit('clarify', 'a car that waits')")
        seen = words(asker, "pgclarify.run", "status")
        asker.rollback()
        asker.autocommit = True
        ask(asker, "clarify", "rental cars")
        model.behavior = saying({105: PROSE})
        ask(asker, "clarify", "a rental car")
        model.behavior = lambda _: PROSE
        ask(asker, "clarify", "rented cars")
        model.behavior = lambda _: HANG
        run_id = scalar(asker, "select pgclarify.submit('clarify', 'cars')")
        until(lambda: RunStatus.RUNNING in words(asker, "pgclarify.run", "status"))
        seen |= words(asker, "pgclarify.run", "status")
        asker.execute("select pgclarify.cancel(array[%s::bigint])", [run_id])
        assert seen | words(asker, "pgclarify.run", "status") == set(RunStatus)

    def test_a_verdict_has_each_outcome_and_each_reason(
        self, asker: Connection, superuser: Connection, model: Server
    ) -> None:
        doubted = {
            102: read(102, interpretation="How loudly do unicorns sing at night?", quote="damaged by hail"),
            # Only the title has it.
            112: read(112, interpretation="What costs money for each day of a rented car?", answer="Insurance"),
            104: read(104, interpretation="How loudly do unicorns sing at night?"),
            105: read(105, interpretation="What does Cobalt Car Hire charge in Ortval?"),
        }
        replies = doubted | {101: read(101, quote=UNPROVEN), 108: read(108)}
        # A model that abstains: what a check doubts is shown.
        model.behavior = saying({document: Reply(json.dumps(one)) for document, one in doubted.items()})
        ask(asker, "clarify", "rental car")
        assert words(asker, "pgclarify.verdict", "doubt_code") == set(DOUBTS)
        assert words(asker, "pgclarify.interpretation", "doubt") == set(DOUBTS)

        # One that reads something nearly everywhere.
        replies = {document: read(document) for document in DOCUMENTS} | replies
        model.behavior = saying({document: Reply(json.dumps(one)) for document, one in replies.items()} | {111: PROSE})
        ask(asker, "clarify", "a rental car", verify="model")
        assert words(asker, "pgclarify.verdict", "abstention_code") == {StopCode.NOT_ANSWERED, *Refusal}

        model.behavior = by_rules
        superuser.execute("select pgclarify.add_document(%s, 'gone', 'A rental car has a roof.')", [CORPUS])
        wait_until_searchable(superuser)
        ask(asker, "clarify", "rental cars")
        superuser.execute("select pgclarify.erase_document(%s, 'gone')", [CORPUS])
        assert words(asker, "pgclarify.verdict", "outcome") == set(Outcome)

    def test_a_run_has_each_stop_code(self, asker: Connection, superuser: Connection, model: Server) -> None:
        model.behavior = saying({})
        ask(asker, "clarify", "rental car")
        ask(asker, "clarify", "rental car", **NO_SHELF)
        model.behavior = saying({101: Reply(json.dumps(read(101, quote=UNPROVEN)))})
        ask(asker, "clarify", "a rental car")
        model.behavior = saying({101: PROSE})
        ask(asker, "clarify", "car rental")
        model.behavior = by_rules
        ask(asker, "list_answers", "rental cars", max_answers=1)
        budget(superuser, "all", max_calls=0)
        ask(asker, "clarify", "rented cars")
        assert words(asker, "pgclarify.run", "stop_code") == set(StopCode) - OF_RULES

    def test_feedback_has_each_rating(self, asker: Connection) -> None:
        run_id = ask(asker, "clarify", "rental cars")
        for rating in Rating:
            asker.execute("select pgclarify.give_feedback(%s, 1, %s, person => %s)", [run_id, rating, rating])
        assert words(asker, "pgclarify.feedback", "rating") == set(Rating)

    def test_a_run_counts_each_mend(self, asker: Connection, model: Server) -> None:
        right = {document: json.dumps(read(document)) for document in DOCUMENTS}
        call = {"function": {"name": "verdict", "arguments": read(110)}}
        event = {"choices": [{"delta": {"role": "assistant", "content": right[111]}, "finish_reason": "stop"}]}
        replies = {
            Mend.THOUGHTS: (101, Reply(f"<think>Let me see.</think>{right[101]}")),
            Mend.CODE_BLOCK: (102, Reply(f"```json\n{right[102]}\n```")),
            Mend.WORDS: (103, Reply(f"Here it is: {right[103]}")),
            Mend.SYNTAX: (104, Reply(right[104].replace("}", ",}"))),
            Mend.ESCAPED: (105, Reply(json.dumps(right[105]))),
            Mend.WRAPPED: (106, Reply(f"[{right[106]}]")),
            Mend.EXTRA_KEY: (107, Reply(json.dumps(read(107, note="none")))),
            Mend.QUOTING: (108, Reply(json.dumps(read(108, answer=200)))),
            Mend.REASONING: (109, Reply("", message={"reasoning_content": right[109]})),
            Mend.ARGUMENTS: (110, Reply(None, message={"tool_calls": [call]})),
            Mend.STREAM: (111, Reply(body=f"data: {json.dumps(event)}\n\ndata: [DONE]\n\n")),
            Mend.QUOTE: (112, Reply(json.dumps(read(112, **IN_OTHER_WORDS)))),
        }
        assert replies.keys() == set(Mend)
        model.behavior = saying(dict(replies.values()))
        run_id = ask(asker, "clarify", "rental car")
        mends = scalar(asker, "select mends from pgclarify.run where run_id = %s", run_id)
        assert mends == dict.fromkeys(Mend, 1)

    def test_a_step_has_each_kind_outcome_and_reason(self, asker: Connection, model: Server) -> None:
        ask(asker, "investigate", TWO_STEPS)
        ask(asker, "investigate", "Who invented the telescope?")
        ask(asker, "investigate", "Who invented the abacus?", max_calls=4)
        ask(asker, "investigate", "Who invented the wheel?", **NO_SHELF)
        found = {"reasoning": "", "evidence": [{"passage": 1, "quote": UNPROVEN}], "answer": "seven brown horses"}
        model.behavior = lambda chat: Reply(json.dumps(found)) if chat.purpose == "answer" else by_rules(chat)
        ask(asker, "investigate", "Who invented the lever?")
        model.behavior = lambda _: PROSE
        ask(asker, "investigate", "Who invented the screw?")
        steps = "pgclarify.investigation_step"
        assert words(asker, steps, "kind") == set(StepKind)
        assert words(asker, steps, "outcome") == set(StepOutcome)
        assert words(asker, steps, "abstention_code") == set(COLUMNS["step.abstention_code"])

    def test_a_rule_and_what_it_detects_have_each_kind(self, superuser: Connection, asker: Connection) -> None:
        for kind in AmbiguityKind:
            superuser.execute("select pgclarify.add_ambiguity_rule(%s, %s, %s)", [rf"\m{kind}\M", kind, CORPUS])
            ask(asker, "detect_ambiguity", f"What is {kind}?")
        assert words(superuser, "pgclarify.ambiguity_rule", "kind") == set(AmbiguityKind)
        assert words(asker, "pgclarify.detection", "kind") == set(AmbiguityKind)

    def test_a_clarifying_question_has_each_form_and_type(self, asker: Connection, model: Server) -> None:
        ask(asker, "clarify", "rental cars")
        ask(asker, "clarifying_questions", "rental cars", form="split")
        ask(asker, "clarifying_questions", "rental cars", form="respond", check="none", count=3)
        ask(asker, "clarifying_questions", "rental cars", form="select", check="none", count=3)
        assert words(asker, "pgclarify.clarifying_question", "form") == set(QuestionForm)
        assert words(asker, "pgclarify.clarifying_question", "ambiguity_type") == set(AmbiguityType)

    def test_a_candidate_has_each_origin(self, superuser: Connection, asker: Connection, model: Server) -> None:
        wait_until_linked(superuser)
        ask(asker, "clarify", "what does it cost", retrieval="adaptive", method="dense")
        ask(asker, "clarify", "rental", method="lexical")
        assert words(asker, "pgclarify.candidate", "origin") == set(Origin)

    def test_a_run_has_each_route(self, asker: Connection, model: Server) -> None:
        for threshold in (0, 1):
            ask(asker, "clarify", "a rental", ask_back="when_vague", threshold=threshold)
        assert words(asker, "pgclarify.run", "route") == set(Route)

    def test_a_budget_has_each_period(self, superuser: Connection) -> None:
        for period in BudgetPeriod:
            options = json.dumps({"period": period, "max_calls": 1000})
            superuser.execute("select pgclarify.set_budget(%s, options => %s)", [period, options])
        assert words(superuser, "pgclarify.budget", "period") == set(BudgetPeriod)

    def test_stages_and_calls_have_each_name(self, superuser: Connection, asker: Connection, model: Server) -> None:
        wait_until_linked(superuser)
        ask(asker, "clarify", "what does it cost", retrieval="adaptive", reranker="model", verify="model")
        ask(asker, "clarify", "rental", ask_back="when_vague", threshold=1)
        ask(asker, "clarify", "rental fees", relax=True)
        ask(asker, "clarify", "rental cars abroad", passages_per_call=4)
        numbers = count(1)
        model.behavior = lambda chat: (
            Reply(json.dumps({"answer": f"{next(numbers)} dollars"})) if chat.purpose == "sample" else by_rules(chat)
        )
        ask(asker, "investigate", TWO_STEPS, meta=True, entailment="model")
        ask(asker, "list_answers", "rental cars")
        ask(asker, "rewrite", "What about that?", history=["Do you rent cars?", "Yes."])
        asked = ask(asker, "clarifying_questions", "rental cars", form="select")
        with suppress(psycopg.errors.ProgrammingError):
            asker.execute("select from pgclarify.reply(%s, 'a deductible after hail')", [asked])
        assert words(superuser, "pgclarify_private.stage", "name") == set(StageName)
        assert words(superuser, "pgclarify_private.completion", "purpose") == set(Purpose) - OF_OTHERS


@pytest.mark.loaded
def test_rules_have_codes_of_their_own(database: str, connection: Connection, run_worker: StartWorker) -> None:
    run_worker(database)
    wait_until_searchable(connection)
    for question in ("Who invented the telescope?", "Was kostet ein Mietwagen pro Tag?"):
        ask(connection, "clarify", question)
    # This document alone has a sentence that may be an answer, and is improbable.
    ask(connection, "clarify", "cars", document_ids=["104"])
    assert words(connection, "pgclarify.run", "stop_code") == OF_RULES
    assert words(connection, "pgclarify.verdict", "abstention_code") >= OF_RULES
