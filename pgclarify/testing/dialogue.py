"""Rewriters, questioners and listers that say what they were told to say, and the tables of a dialogue."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from pgclarify.dialogue import (
    ClarifyingQuestion,
    Detection,
    EvidenceCitation,
    Form,
    ListedAnswer,
    MatchedRule,
    PromptScheme,
    ProposedQuestion,
    Rewriting,
    Turn,
)
from pgclarify.errors import CompletionError, InvalidReply
from pgclarify.model import Completion, CompletionRequest, Passage, Run
from pgclarify.steps import Evidence, Finding
from pgclarify.testing.completer import FakeCompleter
from pgclarify.testing.store import FakeStore


class FakeRewriter(FakeCompleter):
    """Rewrites by a script.

    Args:
        rewritten: By question (for reformulations, by the last reply): what it becomes, None for "the conversation does
            not tell", an error to raise, or a list with one of those for each time it is asked.
    """

    def __init__(
        self, rewritten: Mapping[str, str | CompletionError | list[str | CompletionError | None] | None]
    ) -> None:
        script: dict[str, str | CompletionError | list[str | CompletionError]] = {
            key: [_said(one) for one in line] if isinstance(line, list) else _said(line)
            for key, line in rewritten.items()
        }
        super().__init__(script, json.dumps(None))

    def rewriting_request(self, question: str, history: Sequence[str], *, retry: bool = False) -> CompletionRequest:
        """Render the question and the history."""
        return self._request("rewriting", "\n".join((*history, question)), question, retry=retry)

    def read_rewriting(self, completion: Completion) -> str | None:
        """Read the question.

        Raises:
            InvalidReply: If the reply is none.
        """
        value = _loaded(completion)
        if value is not None and not isinstance(value, str):
            raise InvalidReply("a reply has the wrong form")
        return value

    def reformulation_request(
        self, question: str, turns: Sequence[Turn], *, history: Sequence[str] = (), retry: bool = False
    ) -> CompletionRequest:
        """Render the history, the question and the turns."""
        lines = [text for turn in turns for text in (*turn.asked, turn.reply)]
        return self._request("reformulation", "\n".join((*history, question, *lines)), turns[-1].reply, retry=retry)

    def read_reformulation(self, completion: Completion) -> str:
        """Read the question.

        Raises:
            InvalidReply: If the reply is none.
        """
        value = self.read_rewriting(completion)
        if value is None:
            raise InvalidReply("a reply has the wrong form")
        return value


class FakeQuestioner(FakeCompleter):
    """Proposes by a script.

    Args:
        proposed: By question: what is proposed, a raw reply, an error to raise, or a list of those for each time it is
            asked; nothing that can be read where there is nothing.
    """

    def __init__(
        self, proposed: Mapping[str, Sequence[ProposedQuestion] | str | CompletionError | list[str | CompletionError]]
    ) -> None:
        script: dict[str, str | CompletionError | list[str | CompletionError]] = {}
        for key, line in proposed.items():
            if isinstance(line, str | CompletionError):
                script[key] = line
            else:
                items = list(line)
                if all(isinstance(one, ProposedQuestion) for one in items):
                    script[key] = json.dumps([asdict(one) for one in items if isinstance(one, ProposedQuestion)])
                else:
                    script[key] = [one for one in items if isinstance(one, str | CompletionError)]
        super().__init__(script, "[]")

    def questions_request(
        self,
        question: str,
        history: Sequence[str],
        *,
        scheme: PromptScheme,
        form: Form,
        count: int,
        retry: bool = False,
    ) -> CompletionRequest:
        """Render everything."""
        return self._request(
            "questions", "\n".join((scheme, form, str(count), *history, question)), question, retry=retry
        )

    def read_questions(
        self, completion: Completion, *, scheme: PromptScheme, form: Form, count: int
    ) -> list[ProposedQuestion]:
        """Read what is proposed.

        Raises:
            InvalidReply: If the reply is none.
        """
        value = _loaded(completion)
        if not isinstance(value, list) or not value:
            raise InvalidReply("a reply has the wrong form")
        return [ProposedQuestion(**one) for one in value][:count]


class FakeAnswerLister(FakeCompleter):
    """Lists by a script.

    Args:
        answers: By the number of answers found so far: what is found next, a raw reply, an error to raise, or a list of
            those for each time it is asked; where there is nothing, there is none further.
    """

    def __init__(
        self, answers: Sequence[Finding | str | CompletionError | list[Finding | str | CompletionError]]
    ) -> None:
        script: dict[str, str | CompletionError | list[str | CompletionError]] = {
            str(place): [_found(one) for one in line] if isinstance(line, list) else _found(line)
            for place, line in enumerate(answers)
        }
        super().__init__(script, json.dumps(asdict(Finding())))

    def listing_request(
        self, question: str, passages: Sequence[Passage], answers: Sequence[str], *, retry: bool = False
    ) -> CompletionRequest:
        """Render everything."""
        lines = (*(passage.content for passage in passages), question, *answers)
        return self._request("listing", "\n".join(lines), str(len(answers)), retry=retry)

    def read_listing(self, completion: Completion) -> Finding:
        """Read the answer.

        Raises:
            InvalidReply: If the reply is none.
        """
        value = _loaded(completion)
        if not isinstance(value, dict):
            raise InvalidReply("a reply has the wrong form")
        evidence = tuple(Evidence(**one) for one in value["evidence"])
        return Finding(value["answer"], evidence)


class FakeDialogueStore:
    """The tables of a dialogue of the runs of a `FakeStore`, in memory.

    Args:
        store: Whose runs these are.
        rules: Rules of ambiguity for all corpora, in order: pattern (a Python regular expression), kind, note.
        conversations: By run_id of a reply: the first question, and the turns.

    Attributes:
        detections: By run_id.
        routes: By run_id, with the calls that were spared.
        rewritings: By run_id.
        questions: By run_id.
        answers: By run_id, in order.
    """

    def __init__(
        self,
        store: FakeStore,
        *,
        rules: Sequence[tuple[str, str, str | None]] = (),
        conversations: Mapping[int, tuple[str, list[Turn]]] | None = None,
    ) -> None:
        self.detections: dict[int, list[Detection]] = {}
        self.routes: dict[int, tuple[str, int]] = {}
        self.rewritings: dict[int, Rewriting] = {}
        self.questions: dict[int, list[ClarifyingQuestion]] = {}
        self.answers: dict[int, list[ListedAnswer]] = {}
        self._store = store
        self._rules = list(rules)
        self._conversations = dict(conversations or {})

    async def match_rules(self, run: Run, questions: Sequence[str]) -> list[MatchedRule]:
        """Match the rules."""
        await self._store.record(run)
        found = []
        for ordinal, question in enumerate(questions, start=1):
            for number, (pattern, kind, note) in enumerate(self._rules, start=1):
                match = re.search(pattern, question, re.IGNORECASE)
                if match is not None:
                    found.append(MatchedRule(ordinal, number, kind, note, match[0]))
        return found

    async def record_detections(self, run: Run, detections: Sequence[Detection]) -> None:
        """Keep what was found.

        Raises:
            ValueError: If it is none that the table takes.
        """
        await self._store.record(run)
        if not all(one.is_ambiguous == (one.kind is not None) and 0 <= one.probability <= 1 for one in detections):
            raise ValueError(f"no table takes {detections}")
        self.detections[run.run_id] = list(detections)

    async def record_route(self, run: Run, route: str, saved_completions: int) -> None:
        """Keep the route.

        Raises:
            ValueError: If it is none that the table takes.
        """
        await self._store.record(run)
        if route not in ("answered", "clarified") or saved_completions < 0:
            raise ValueError(f"no table takes {route} and {saved_completions}")
        self.routes[run.run_id] = (route, saved_completions)

    async def record_rewriting(self, run: Run, rewriting: Rewriting) -> None:
        """Keep the question."""
        await self._store.record(run)
        self.rewritings[run.run_id] = rewriting

    async def record_clarifying_questions(self, run: Run, questions: Sequence[ClarifyingQuestion]) -> None:
        """Keep what is to be asked back.

        Raises:
            ValueError: If it is none that the table takes.
        """
        for question in questions:
            await self._check_citations(run, question.citations)
        self.questions[run.run_id] = list(questions)

    async def turns(self, run: Run) -> tuple[str, list[Turn]]:
        """Read the conversation."""
        await self._store.record(run)
        return self._conversations[run.run_id]

    async def record_answer(self, run: Run, answer: ListedAnswer) -> None:
        """Keep an answer.

        Raises:
            ValueError: If it is none that the table takes.
        """
        await self._check_citations(run, answer.citations)
        if answer.variants[:1] != (answer.answer,) or not answer.citations:
            raise ValueError(f"no table takes {answer}")
        kept = [one for one in self.answers.get(run.run_id, []) if one.ordinal != answer.ordinal]
        self.answers[run.run_id] = sorted([*kept, answer], key=lambda one: one.ordinal)

    async def _check_citations(self, run: Run, citations: Sequence[EvidenceCitation]) -> None:
        ranks = {candidate.rank for candidate in (await self._store.record(run)).candidates}
        if not all(citation.candidate_rank in ranks for citation in citations):
            raise ValueError(f"no table takes {citations}")


def _said(line: str | CompletionError | None) -> str | CompletionError:
    return line if isinstance(line, CompletionError) else json.dumps(line)


def _found(line: Finding | str | CompletionError) -> str | CompletionError:
    return json.dumps(asdict(line)) if isinstance(line, Finding) else line


def _loaded(completion: Completion) -> object:
    try:
        value: object = json.loads(completion.reply)
    except ValueError:
        raise InvalidReply("a reply has the wrong form") from None
    return value
