"""Answers one by one: the result of a round, and the end of the rounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pgclarify.data.candidates import Candidate
from pgclarify.data.documents import Passage
from pgclarify.data.investigation import Evidence, Finding
from pgclarify.data.vocabulary import RunStatus, StopCode
from pgclarify.errors import InvalidReply
from pgclarify.operations import list_answers
from pgclarify.operations.list_answers import most_rounds
from pgclarify.operations.retrieval.evidence import cut_evidence, split_evidence
from tests.fakes import scripts
from tests.fakes.completer import Prompt
from tests.unit.operations.listing import (
    BERG,
    CONTENTS,
    FILM,
    GONE,
    HOLM,
    HOLM_AGAIN,
    MADE_UP,
    PROSE,
    QUESTION,
    REVIEW,
    SERIES,
    SETTINGS,
    Line,
    World,
    ended,
    passages,
)


class TestRounds:
    async def test_each_gives_one_more_until_there_is_none(self) -> None:
        world = World(HOLM, BERG)
        record = await world.carry_out()

        assert ended(record) == (RunStatus.SUCCEEDED, "no further answer")
        assert [(one.ordinal, one.answer, one.variants) for one in world.answers] == [
            (1, "Ida Holm", ("Ida Holm",)),
            (2, "Ada Berg", ("Ada Berg",)),
        ]
        (cited,) = world.answers[1].citations
        assert (cited.candidate_rank, cited.quote) == (2, "the queen was played by Ada Berg")
        assert SERIES[cited.start_char - 200 : cited.end_char - 200] == cited.quote
        assert [stage.name for stage in record.stages] == ["retrieval", "listing", "listing", "listing"]
        assert [(stage.batch, stage.calls, stage.note) for stage in record.stages[1:]] == [
            (1, 1, None),
            (2, 1, None),
            (3, 1, "none further"),
        ]
        assert [stage.rows for stage in record.stages[1:]] == [1, 1, 0]

    async def test_all_read_the_same_passages_and_the_answers_so_far(self) -> None:
        world = World(HOLM, BERG)
        await world.carry_out()
        asked = world.lister.asked("listing")
        assert [(one.question, one.passages) for one in asked] == [(QUESTION, list(CONTENTS))] * 3
        assert [one.line("Found so far") for one in asked] == ["", "Ida Holm", "Ida Holm; Ada Berg"]

    async def test_no_call_comes_after_the_last_answer_that_is_wanted(self) -> None:
        world = World(HOLM, BERG, max_answers=1)
        record = await world.carry_out()
        assert ended(record) == (RunStatus.SUCCEEDED, "the limit of 1 answer was reached")
        assert record.stop_code == StopCode.LIMIT
        assert ([one.answer for one in world.answers], len(world.lister.calls)) == (["Ida Holm"], 1)

    async def test_the_passages_may_give_none(self) -> None:
        world = World()
        assert ended(await world.carry_out()) == (RunStatus.SUCCEEDED, "the passages give no answer")
        assert world.answers == []

    async def test_nobody_is_asked_where_nothing_was_found(self) -> None:
        world = World(HOLM, contents=())
        assert ended(await world.carry_out()) == (RunStatus.SUCCEEDED, "the search found nothing")
        assert world.lister.calls == []

    async def test_a_repeated_run_reuses_all_replies(self) -> None:
        world = World(HOLM, BERG)
        first = await world.carry_out()
        world.run = world.store.add_run(QUESTION, operation="list_answers", settings=SETTINGS)
        record = await world.carry_out()
        assert ended(record) == ended(first)
        assert [one.answer for one in world.answers] == ["Ida Holm", "Ada Berg"]
        assert [(stage.calls, stage.reused_calls) for stage in record.stages[1:]] == [(0, 1)] * 3


class TestVariants:
    async def test_are_kept_with_their_proof_and_end_the_rounds(self) -> None:
        again: list[Line] = [HOLM_AGAIN, HOLM_AGAIN]
        world = World(HOLM, BERG, HOLM_AGAIN, again, again)
        assert ended(await world.carry_out()) == (RunStatus.PARTIAL, "rounds brought nothing new")
        first, second = world.answers
        assert (first.answer, first.variants) == ("Ida Holm", ("Ida Holm", "Holm"))
        assert [citation.candidate_rank for citation in first.citations] == [1, 3]
        assert (second.variants, len(second.citations)) == (("Ada Berg",), 1)

    async def test_are_asked_past_once(self) -> None:
        world = World(HOLM, HOLM_AGAIN, [Finding(), BERG])
        assert ended(await world.carry_out()) == (RunStatus.SUCCEEDED, "no further answer")
        assert [one.variants for one in world.answers] == [("Ida Holm", "Holm"), ("Ada Berg",)]
        # Each request has all spellings found so far.
        asked = [one.line("Found so far") for one in world.lister.asked("listing")]
        assert asked == ["", "Ida Holm", "Ida Holm; Holm", "Ida Holm; Holm; Ada Berg"]

    async def test_are_kept_where_the_model_then_has_no_more(self) -> None:
        world = World(HOLM, HOLM_AGAIN, [BERG, Finding()])
        assert ended(await world.carry_out()) == (RunStatus.SUCCEEDED, "no further answer")
        assert [one.variants for one in world.answers] == [("Ida Holm", "Holm")]

    async def test_a_new_spelling_does_not_end_the_rounds(self) -> None:
        world = World(HOLM, HOLM_AGAIN, [BERG, HOLM_AGAIN], BERG)
        assert ended(await world.carry_out()) == (RunStatus.SUCCEEDED, "no further answer")
        assert [one.variants for one in world.answers] == [("Ida Holm", "Holm"), ("Ada Berg",)]
        # The same holds if the next reply proves nothing.
        world = World(HOLM, HOLM_AGAIN, [BERG, MADE_UP], BERG)
        assert ended(await world.carry_out()) == (RunStatus.SUCCEEDED, "no further answer")
        assert len(world.answers) == 2

    async def test_but_no_more_than_two_in_a_row(self) -> None:
        spelled = [
            Finding(answer, HOLM.evidence)
            for answer in ("Holm, Ida", "not asked", "I. Holm", "the I. Holm", "not asked")
        ]
        lines: list[list[Line]] = [[one, HOLM] for one in spelled]
        world = World(HOLM, *lines)
        record = await world.carry_out()
        assert ended(record) == (RunStatus.PARTIAL, "rounds brought nothing new")
        assert record.stop_code == StopCode.REPEATED
        assert [one.variants for one in world.answers] == [("Ida Holm", "Holm, Ida", "I. Holm", "the I. Holm")]
        assert [stage.batch for stage in record.stages[1:]] == [1, 2, 3, 4]

    async def test_rounds_that_bring_nothing_are_limited(self) -> None:
        people = ["Ida Holm", "Uma Berg", "Eva Lund", "Ola Dahl"]
        content = f"The queens are {', '.join(people)}."
        spellings = [
            spelling
            for person in people
            for first, last in [person.split()]
            for spelling in (person, f"{last}, {first}", f"{first[0]}. {last}")
        ]
        findings = [Finding(one, (Evidence(1, content),)) for one in spellings]
        # The first answer is repeated, and refused. So the second reply is used in the same round.
        lines: list[list[Line]] = [[one, findings[0]] for one in (*findings[:2], *findings[1:])]
        world = World(*lines, contents=(content,), max_answers=4)
        record = await world.carry_out()
        assert ended(record) == (RunStatus.PARTIAL, "rounds brought nothing new")
        assert record.stop_code == StopCode.REPEATED
        assert [one.answer for one in world.answers] == people[:3]
        # Four rounds without a new answer are allowed, and the fifth ends the window.
        assert [len(one.variants) for one in world.answers] == [3, 3, 2]
        assert len(record.stages[1:]) == 3 + 5

    async def test_a_last_name_is_somebodys_whom_the_passage_names(self) -> None:
        content = "Berg was a fine queen."
        last = Finding("Berg", (Evidence(3, content),))
        world = World(HOLM, BERG, last, contents=(FILM, SERIES, content))
        await world.carry_out()
        assert [one.variants for one in world.answers] == [("Ida Holm",), ("Ada Berg",), ("Berg",)]
        # The order in which they are found makes no difference.
        content = "Ada Berg was the queen after Ida Holm, and Berg was a fine one."
        last = Finding("Berg", (Evidence(3, "Berg was a fine one"),))
        world = World(last, BERG, contents=(FILM, SERIES, content))
        await world.carry_out()
        assert [one.variants for one in world.answers] == [("Berg", "Ada Berg")]

    async def test_a_name_with_one_more_word_is_another_answer(self) -> None:
        content = "Lindvik Castle was followed by Lindvik Castle Returns."
        findings = [Finding(answer, (Evidence(1, content),)) for answer in ("Lindvik Castle", "Lindvik Castle Returns")]
        world = World(*findings, contents=(content,), question="Which films are there?")
        await world.carry_out()
        assert [one.answer for one in world.answers] == ["Lindvik Castle", "Lindvik Castle Returns"]

    async def test_the_same_words_and_quote_add_nothing(self) -> None:
        world = World(HOLM, [HOLM, HOLM], [HOLM, HOLM])
        assert ended(await world.carry_out()) == (RunStatus.PARTIAL, "rounds brought nothing new")
        # The third request excludes it. A fourth one would be the same.
        assert [one.line("Refused so far") for one in world.lister.asked("listing")] == ["", "", "", *["Ida Holm"] * 2]
        assert [(one.variants, len(one.citations)) for one in world.answers] == [(("Ida Holm",), 1)]

    async def test_a_spelling_counts_once(self) -> None:
        other = Finding("IDA HOLM", (Evidence(3, "Holm is a fine queen"),))
        world = World(HOLM, [other, other])
        await world.carry_out()
        (only,) = world.answers
        assert (only.variants, [one.candidate_rank for one in only.citations]) == (("Ida Holm",), [1, 3])


class TestWindows:
    """A window has room for fifteen tokens, so each passage here is a window."""

    @pytest.fixture(autouse=True)
    def _windows_are_small(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(list_answers, "WINDOW_TOKENS", 15)

    @staticmethod
    def world(*told: tuple[str, str], contents: Sequence[str] = CONTENTS, **settings: Any) -> World:
        return World(contents=contents, lister=scripts.window_reader(*told), **settings)

    async def test_each_is_read_with_the_answers_of_those_before_it(self) -> None:
        world = self.world(("Ida Holm", FILM), ("Ada Berg", SERIES))
        record = await world.carry_out()
        assert ended(record) == (RunStatus.SUCCEEDED, "no further answer")
        assert record.stop_code is None
        assert [(one.answer, one.citations[0].candidate_rank) for one in world.answers] == [
            ("Ida Holm", 1),
            ("Ada Berg", 2),
        ]
        assert [(one.passages, one.line("Found so far")) for one in world.lister.asked("listing")] == [
            ([FILM], ""),
            ([FILM], "Ida Holm"),
            ([SERIES], "Ida Holm"),
            ([SERIES], "Ida Holm; Ada Berg"),
            # A text that is longer than a window is cut to its beginning.
            ([REVIEW[:60]], "Ida Holm; Ada Berg"),
        ]
        assert [(stage.batch, stage.rows, stage.note) for stage in record.stages[1:]] == [
            (1, 1, "window 1 of 3 (#1)"),
            (2, 0, "window 1 of 3 (#1): none further"),
            (3, 1, "window 2 of 3 (#2)"),
            (4, 0, "window 2 of 3 (#2): none further"),
            (5, 0, "window 3 of 3 (#3): none further"),
        ]

    async def test_later_requests_are_of_the_documents_of_earlier_answers(self) -> None:
        world = self.world(("Ida Holm", FILM))
        await world.carry_out()
        noted = [row.request.document_ids for row in world.store.table.rows.values()]
        # The second window gives no answer, so the request about the third window has none of its text.
        assert noted == [("d1",), ("d1",), ("d2", "d1"), ("d3", "d1")]

    async def test_they_have_several_passages_where_there_is_room(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(list_answers, "WINDOW_TOKENS", 30)
        world = self.world(("Ida Holm", FILM))
        record = await world.carry_out()
        assert [one.passages for one in world.lister.asked("listing")] == [[FILM, SERIES]] * 2 + [[REVIEW]]
        assert record.stages[1].note == "window 1 of 2 (#1 to #2)"

    async def test_as_many_answers_as_are_wanted_end_them(self) -> None:
        world = self.world(("Ida Holm", FILM), ("Ada Berg", SERIES), max_answers=1)
        record = await world.carry_out()
        assert (record.status, record.stop_code) == (RunStatus.SUCCEEDED, StopCode.LIMIT)
        assert len(world.lister.calls) == 1

    async def test_a_window_that_ends_early_leaves_the_others_to_be_read(self) -> None:
        world = self.world(("Ida Holm", FILM), ("Eva Lund", FILM), ("Eva Dahl", FILM), ("Ada Berg", SERIES))
        record = await world.carry_out()
        assert (record.status, record.stop_code) == (RunStatus.SUCCEEDED, None)
        assert [one.answer for one in world.answers] == ["Ida Holm", "Ada Berg"]

        made_up = [(f"Eva {name}", FILM) for name in ("Lund", "Dahl", "Falk", "Moen")]
        world = self.world(("Ida Holm", FILM), *made_up, ("Ada Berg", SERIES))
        record = await world.carry_out()
        assert ended(record) == (
            RunStatus.PARTIAL,
            "1 of 3 windows ended early, the last of them because a further answer was not proven: "
            "the answer does not come from the passages",
        )
        assert record.stop_code == StopCode.UNPROVEN
        assert [one.answer for one in world.answers] == ["Ida Holm", "Ada Berg"]

    async def test_another_window_may_prove_an_answer_that_one_refused(self) -> None:
        world = self.world(("Ada Berg", FILM), ("Ada Berg", SERIES))
        record = await world.carry_out()
        assert ended(record) == (RunStatus.SUCCEEDED, "no further answer")
        assert [(one.answer, one.citations[0].candidate_rank) for one in world.answers] == [("Ada Berg", 2)]

    async def test_a_refusal_in_one_is_not_forgotten_where_no_answer_is_found(self) -> None:
        world = self.world(("Eva Lund", FILM))
        record = await world.carry_out()
        assert ended(record) == (RunStatus.SUCCEEDED, "the passages give no answer")
        assert record.stop_code == StopCode.UNPROVEN

    async def test_calls_are_bounded_and_all_are_read(self) -> None:
        contents = [f"The queen of castle {number} was Ada Berg." for number in range(8)]
        # No passage has the name in a reply: each reply is refused.
        made_up = [(f"Eva {name}", content) for content in contents for name in ("Lund", "Dahl", "Falk", "Moen")]
        world = self.world(*made_up, contents=contents, max_answers=3)
        record = await world.carry_out()
        assert record.status is RunStatus.PARTIAL
        assert (record.stop_reason or "").startswith("8 of 8 windows ended early")
        # One round for each window, and four rounds that may bring nothing.
        assert len(record.stages[1:]) == 8 + 4 <= most_rounds(3, 8)
        assert len(world.lister.calls) == 2 * (8 + 4)
        assert {tuple(one.passages) for one in world.lister.asked("listing")} == {(content,) for content in contents}

    async def test_a_model_that_fails_leaves_what_was_found(self) -> None:
        async def break_down(prompt: Prompt) -> None:
            if prompt.passages == [SERIES]:
                raise GONE

        world = self.world(("Ida Holm", FILM))
        world.lister.before = break_down
        record = await world.carry_out()
        assert record.status is RunStatus.PARTIAL
        assert (record.stop_reason or "").startswith("the model failed: ")
        assert [one.answer for one in world.answers] == ["Ida Holm"]
        # Without a found answer, there may be answers in the windows that were not read.
        world = self.world()
        world.lister.before = break_down
        assert (await world.carry_out()).status is RunStatus.FAILED


class TestTrouble:
    @pytest.mark.parametrize("line", [GONE, [PROSE, PROSE]])
    async def test_at_once_fails_the_run(self, line: Any) -> None:
        record = await World(line).carry_out()
        assert (record.status, record.stop_reason) == (RunStatus.FAILED, None)
        assert record.error

    @pytest.mark.parametrize(("line", "code"), [(GONE, GONE.sqlstate), ([PROSE, PROSE], InvalidReply.sqlstate)])
    async def test_later_leaves_what_was_found(self, line: Any, code: str) -> None:
        world = World(HOLM, line)
        record = await world.carry_out()
        assert (record.status, record.error, record.error_code) == (RunStatus.PARTIAL, None, code)
        assert (record.stop_reason or "").startswith("the model failed: ")
        assert [one.answer for one in world.answers] == ["Ida Holm"]

    async def test_a_reply_that_cannot_be_read_is_asked_for_once_more(self) -> None:
        world = World([PROSE, HOLM], BERG)
        assert ended(await world.carry_out()) == (RunStatus.SUCCEEDED, "no further answer")
        assert [one.answer for one in world.answers] == ["Ida Holm", "Ada Berg"]

    @pytest.mark.parametrize("line", [[MADE_UP, PROSE], [PROSE, MADE_UP], [HOLM, PROSE]])
    async def test_an_unreadable_reply_does_not_end_the_list(self, line: list[Line]) -> None:
        """The other reply is refused, as if both had been read."""
        world = World(HOLM, line, BERG)
        assert ended(await world.carry_out()) == (RunStatus.SUCCEEDED, "no further answer")
        assert [one.answer for one in world.answers] == ["Ida Holm", "Ada Berg"]

    async def test_before_the_first_answer_it_does_not_fail_the_run_either(self) -> None:
        world = World([MADE_UP, PROSE], HOLM)
        assert ended(await world.carry_out()) == (RunStatus.SUCCEEDED, "no further answer")
        assert [one.answer for one in world.answers] == ["Ida Holm"]
        # An outage is another matter: nothing is known of the answers that were not given.
        assert (await World([MADE_UP, GONE], HOLM).carry_out()).status is RunStatus.FAILED


class TestEvidence:
    @staticmethod
    def candidates(*contents: str) -> list[Candidate]:
        return [Candidate(rank, one, 1.0, "dense") for rank, one in enumerate(passages(contents), start=1)]

    def test_is_cut_by_rank(self) -> None:
        candidates = self.candidates("a" * 40, "b" * 40, "c" * 41, "d")
        assert cut_evidence(candidates, 20) == candidates[:2]
        assert cut_evidence(candidates, 30) == candidates[:2]
        assert cut_evidence(candidates, 31) == candidates
        assert cut_evidence([], 20) == []

    def test_counts_titles_and_headings(self) -> None:
        passage = Passage("d", 1, "a" * 30, title="A title", heading="A heading")
        candidates = [Candidate(1, passage, 1.0, "dense"), *self.candidates("b" * 30)]
        assert len(cut_evidence(candidates, 15)) == 1
        assert len(cut_evidence(candidates, 20)) == 2

    def test_a_long_first_passage_is_cut_to_the_budget(self) -> None:
        candidates = self.candidates("a" * 100, "b")
        (only,) = cut_evidence(candidates, 10)
        assert (only.rank, only.passage.content) == (1, "a" * 40)

    def test_is_split_into_windows_by_rank(self) -> None:
        candidates = self.candidates("a" * 40, "b" * 40, "c" * 41, "d", "e" * 100, "f")
        windows = split_evidence(candidates, 20)
        assert [[one.rank for one in window] for window in windows] == [[1, 2], [3, 4], [5], [6]]
        # A passage that is longer than a window is cut to its beginning.
        assert windows[2][0].passage.content == "e" * 80
        assert [one for window in split_evidence(candidates, 100) for one in window] == candidates
        assert split_evidence([], 20) == []
