# Written by `make generated` from pgclarify/declared. Do not edit.
"""Scripts of the operations. The docstrings are those of the client's methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pgclarify.client.asking import ask, ask_many, ask_one
from pgclarify.client.records import Answer
from pgclarify.client.result_records import (
    Ambiguity,
    Estimate,
    Interpretation,
    Investigation,
    ListedAnswer,
    ProposedQuestion,
    RewrittenQuestion,
    SearchResult,
)
from pgclarify.client.results import Results
from pgclarify.client.scripts import Script, Session, interval, listed, timed, to_json

# For each operation: the type of its rows in SQL, and the class of its records.
ROWS: Final[Mapping[str, tuple[str, type[Any]]]] = {
    "clarify": ("clarification", Interpretation),
    "consolidate": ("clarification", Interpretation),
    "search": ("search_result", SearchResult),
    "investigate": ("investigation", Investigation),
    "detect_ambiguity": ("detection", Ambiguity),
    "rewrite": ("rewriting", RewrittenQuestion),
    "clarifying_questions": ("proposed_question", ProposedQuestion),
    "reply": ("rewriting", RewrittenQuestion),
    "list_answers": ("answer", ListedAnswer),
    "estimate": ("estimate", Estimate),
}
# These continue a run, or use a corpus only if it is named.
WITHOUT_CORPUS: Final = frozenset({"consolidate", "detect_ambiguity", "rewrite", "reply"})
# These have verdicts.
WITH_VERDICTS: Final = ("clarify", "consolidate")
# The parameters of all functions that are whole numbers, and the bits of each without its sign.
WHOLE_NUMBERS: Final[Mapping[str, int]] = {
    "k": 31,
    "ordinal": 31,
    "passage_id": 63,
    "run_id": 63,
    "run_ids": 63,
    "top_k": 31,
}


def clarify(
    session: Session,
    /,
    question: str,
    *,
    corpus: str | None = None,
    top_k: int = 20,
    timeout: float | None = 60.0,
    filter: Mapping[str, object] | None = None,
    document_ids: Sequence[str] | None = None,
    history: Sequence[str] = (),
    **options: object,
) -> Script[Results[Interpretation]]:
    """Ask a vague question, and wait for the readings that the corpus answers.

    A partial run is also logged as a warning of logger "pgclarify.client", since an empty list would not show it. So is
    a run that found nothing, if the corpus may have an answer.

        for reading in client.clarify("rental cars", corpus="insurance"):
            print(reading.interpretation, reading.answer, reading.document_ids)

    Args:
        question: 1 to 10,000 characters.
        corpus: Its name; None means the client's, else pgclarify.corpus, or the only one.
        top_k: Passages to judge, 1 to 1000.
        timeout: Seconds to wait; None waits without limit.
        filter: Only documents whose metadata fits, such as {"year": {">=": 2025}}; None means all.
        document_ids: Only these documents; None means all, an empty array none.
        history: Earlier turns, oldest first, one element for each turn; a follow-up is first made to stand alone, as
            rewrite does.
        options: method, relax, retrieval, max_passages, recall, reranker, consolidation, include, hdbscan, singletons,
            prefer, passages_per_call, verify, ask_back, threshold, refresh, batch; `select * from
            pgclarify.help('clarify')` explains them.

    Returns:
        Readings, best first. The list is empty if no passage answers, or if none could be read; then a warning says
        why.
    """
    arguments = {
        "question": question,
        "corpus": corpus,
        "top_k": top_k,
        "timeout": interval(timeout),
        "filter": None if filter is None else to_json(filter, "filter"),
        "document_ids": None if document_ids is None else listed(document_ids),
        "history": listed(history),
    }
    return (yield from ask(session, Interpretation, "clarify", arguments, options))


def consolidate(
    session: Session,
    /,
    run_id: int,
    *,
    timeout: float | None = 60.0,
    **options: object,
) -> Script[Results[Interpretation]]:
    """Group a run's verdicts again, in a new run. No model is called.

    Args:
        run_id: A clarify run that you may see, of a corpus that you may search.
        timeout: Seconds to wait; the run goes on afterwards. None waits without limit.
        options: consolidation, include, embed, min_cluster_size, min_samples, allow_single_cluster,
            cluster_selection_epsilon, singletons, prefer; `select * from pgclarify.help('consolidate')` explains them.

    Returns:
        As clarify.
    """
    arguments = {
        "run_id": run_id,
    }
    return (yield from ask(session, Interpretation, "consolidate", arguments, timed(options, timeout)))


def search(
    session: Session,
    /,
    question: str,
    *,
    corpus: str | None = None,
    top_k: int = 10,
    filter: Mapping[str, object] | None = None,
    document_ids: Sequence[str] | None = None,
    timeout: float | None = 60.0,
    **options: object,
) -> Script[Results[SearchResult]]:
    """Find the passages that match a question best, without judging them.

    With method="lexical" it needs no worker.

        for passage in client.search("rental cars", corpus="insurance", method="lexical"):
            print(passage.rank, passage.document_id, passage.content)

    Args:
        question: 1 to 10,000 characters.
        corpus: Its name; None means the client's, else pgclarify.corpus, or the only one.
        top_k: How many, 1 to 1000.
        filter: Only documents whose metadata fits, such as {"year": {">=": 2025}}; None means all.
        document_ids: Only these documents; None means all, an empty array none.
        timeout: Seconds to wait; the run goes on afterwards. None waits without limit.
        options: method, retrieval, reranker, max_passages; `select * from pgclarify.help('search')` explains them.

    Returns:
        Passages, best first.
    """
    arguments = {
        "question": question,
        "corpus": corpus,
        "top_k": top_k,
        "filter": None if filter is None else to_json(filter, "filter"),
        "document_ids": None if document_ids is None else listed(document_ids),
    }
    return (yield from ask(session, SearchResult, "search", arguments, timed(options, timeout)))


def investigate(
    session: Session,
    /,
    question: str,
    *,
    corpus: str | None = None,
    filter: Mapping[str, object] | None = None,
    document_ids: Sequence[str] | None = None,
    timeout: float | None = 300.0,
    **options: object,
) -> Script[Investigation]:
    """Ask a question that may take several steps, and wait for the answer. Needs a language model.

        found = client.investigate("Who owns the company that insures the rental cars?", corpus="insurance")
        print(found.answer or found.outcome, found.confidence, found.document_ids)

    Args:
        question: 1 to 10,000 characters.
        corpus: Its name; None means the client's, else pgclarify.corpus, or the only one.
        filter: Only documents whose metadata fits, such as {"year": {">=": 2025}}; None means all.
        document_ids: Only these documents; None means all, an empty array none.
        timeout: Seconds to wait; the run goes on afterwards. None waits without limit.
        options: method, retrieval, reranker, top_k, max_passages, max_steps, max_calls, entailment, samples, meta;
            `select * from pgclarify.help('investigate')` explains them.

    Returns:
        The answer with its steps and evidence. If there is no answer, outcome says why.
    """
    arguments = {
        "question": question,
        "corpus": corpus,
        "filter": None if filter is None else to_json(filter, "filter"),
        "document_ids": None if document_ids is None else listed(document_ids),
    }
    return (yield from ask_one(session, Investigation, "investigate", arguments, timed(options, timeout)))


def detect_ambiguity(
    session: Session,
    /,
    question: str,
    history: Sequence[str] = (),
    *,
    timeout: float | None = 60.0,
    **options: object,
) -> Script[Ambiguity]:
    """Say whether a question is ambiguous, and why. No language model is needed.

    The rules and the classifier are those of option corpus; of no corpus without it, even if the client has one. For a
    log of many searches, use submit_many("detect_ambiguity", questions).

        found = client.detect_ambiguity("How much does it cost?")
        print(found.is_ambiguous, found.probability, found.kind)

    Args:
        question: 1 to 10,000 characters.
        history: Earlier turns, oldest first, one element for each turn.
        timeout: Seconds to wait; the run goes on afterwards. None waits without limit.
        options: corpus, threshold; `select * from pgclarify.help('detect_ambiguity')` explains them.

    Returns:
        The judgement with its reasons.
    """
    arguments = {
        "question": question,
        "history": listed(history),
    }
    return (yield from ask_one(session, Ambiguity, "detect_ambiguity", arguments, timed(options, timeout)))


def rewrite(
    session: Session,
    /,
    question: str,
    history: Sequence[str] = (),
    *,
    timeout: float | None = 60.0,
    **options: object,
) -> Script[RewrittenQuestion]:
    """Rewrite a question so that it stands alone, using the earlier turns.

    A clear question is returned unchanged, without a call. An ambiguous one needs a language model; without one, it is
    also returned unchanged.

        said = ["Who wrote Emma?", "Jane Austen."]
        print(client.rewrite("When was she born?", said).rewritten)

    Args:
        question: 1 to 10,000 characters.
        history: Earlier turns, oldest first, one element for each turn; the last ten count.
        timeout: Seconds to wait; the run goes on afterwards. None waits without limit.
        options: corpus, threshold; `select * from pgclarify.help('rewrite')` explains them.

    Returns:
        The rewritten question; or the original one, with the reason, if it could not be rewritten.
    """
    arguments = {
        "question": question,
        "history": listed(history),
    }
    return (yield from ask_one(session, RewrittenQuestion, "rewrite", arguments, timed(options, timeout)))


def clarifying_questions(
    session: Session,
    /,
    question: str | None = None,
    history: Sequence[str] = (),
    *,
    corpus: str | None = None,
    filter: Mapping[str, object] | None = None,
    document_ids: Sequence[str] | None = None,
    timeout: float | None = 300.0,
    **options: object,
) -> Script[Results[ProposedQuestion]]:
    """Propose clarifying questions for a vague question.

    After clarify of the same question, it gives what splits the readings best, a row for each side, without a model.
    Otherwise it needs a language model: form="select" gives reformulations that the corpus answers, to choose from, and
    form="respond" questions to answer in your own words, with reply. A conversation has up to three turns:
    `client.clarifying_questions(reply=chosen.run_id)` asks back about the question of that reply. With option reply or
    check="none", the client's corpus is not used.

        proposed = client.clarifying_questions("rental cars", corpus="insurance", form="select")
        chosen = client.reply(proposed[0].run_id, ordinal=proposed[0].ordinal)
        readings = client.clarify(chosen.rewritten, corpus="insurance")

    Args:
        question: 1 to 10,000 characters; None with option reply, which has its own question.
        history: Earlier turns, oldest first; empty with option reply.
        corpus: Its name; None means the client's, else no corpus for questions to respond to and with check none, else
            pgclarify.corpus, or the only one; None with option reply.
        filter: Only documents whose metadata fits, such as {"year": {">=": 2025}}; None means all.
        document_ids: Only these documents; None means all, an empty array none.
        timeout: Seconds to wait; the run goes on afterwards. None waits without limit.
        options: form, count, check, method, top_k, reply; `select * from pgclarify.help('clarifying_questions')`
            explains them.

    Returns:
        Questions or reformulations, in order; none if no document answers any reformulation.
    """
    arguments = {
        "question": question,
        "corpus": corpus,
        "history": listed(history),
        "filter": None if filter is None else to_json(filter, "filter"),
        "document_ids": None if document_ids is None else listed(document_ids),
    }
    return (yield from ask(session, ProposedQuestion, "clarifying_questions", arguments, timed(options, timeout)))


def reply(
    session: Session,
    /,
    run_id: int,
    reply: str | None = None,
    *,
    ordinal: int | None = None,
    timeout: float | None = 60.0,
    **options: object,
) -> Script[RewrittenQuestion]:
    """Reply to clarifying_questions: in your own words, from which the question is then rewritten, or by a choice.

        proposed = client.clarifying_questions("rental cars", corpus="insurance")
        print(client.reply(proposed[0].run_id, "I mean while mine is repaired.").rewritten)

    Args:
        run_id: A run of clarifying_questions.
        reply: 1 to 10,000 characters.
        ordinal: The place of the chosen reformulation, instead of a reply.
        timeout: Seconds to wait; the run goes on afterwards. None waits without limit.
        options: There are none yet.

    Returns:
        The question as it is now. To ask back once more, pass its run_id to clarifying_questions as option reply.
    """
    arguments = {
        "run_id": run_id,
        "reply": reply,
        "ordinal": ordinal,
    }
    return (yield from ask_one(session, RewrittenQuestion, "reply", arguments, timed(options, timeout)))


def list_answers(
    session: Session,
    /,
    question: str,
    *,
    corpus: str | None = None,
    filter: Mapping[str, object] | None = None,
    document_ids: Sequence[str] | None = None,
    timeout: float | None = 300.0,
    **options: object,
) -> Script[Results[ListedAnswer]]:
    """Ask for all answers of a question that has several, each one once, with its evidence.

        for found in client.list_answers("Who plays in it?", corpus="films"):
            print(found.ordinal, found.answer, found.document_ids)

    Args:
        question: 1 to 10,000 characters.
        corpus: Its name; None means the client's, else pgclarify.corpus, or the only one.
        filter: Only documents whose metadata fits, such as {"year": {">=": 2025}}; None means all.
        document_ids: Only these documents; None means all, an empty array none.
        timeout: Seconds to wait; the run goes on afterwards. None waits without limit.
        options: method, relax, reranker, top_k, max_answers; `select * from pgclarify.help('list_answers')` explains
            them.

    Returns:
        Answers, those that most documents give first; none if the corpus has none.
    """
    arguments = {
        "question": question,
        "corpus": corpus,
        "filter": None if filter is None else to_json(filter, "filter"),
        "document_ids": None if document_ids is None else listed(document_ids),
    }
    return (yield from ask(session, ListedAnswer, "list_answers", arguments, timed(options, timeout)))


def estimate(
    session: Session,
    /,
    questions: Sequence[str],
    *,
    corpus: str | None = None,
    top_k: int = 20,
    filter: Mapping[str, object] | None = None,
    document_ids: Sequence[str] | None = None,
    timeout: float | None = 60.0,
    **options: object,
) -> Script[Estimate]:
    """Estimate what clarify would cost for these questions. No language model is called.

        expected = client.estimate(["rental cars", "deductible"])
        print(expected.calls, expected.reused_calls, expected.cost_usd)

    Args:
        questions: Each 1 to 10,000 characters.
        corpus: Its name; None means the client's, else pgclarify.corpus, or the only one.
        top_k: Passages to judge, 1 to 1000.
        filter: Only documents whose metadata fits, such as {"year": {">=": 2025}}; None means all.
        document_ids: Only these documents; None means all, an empty array none.
        timeout: Seconds to wait; the run goes on afterwards. None waits without limit.
        options: method, relax, retrieval, max_passages, recall, reranker, consolidation, include, hdbscan, singletons,
            prefer, passages_per_call, verify, ask_back, threshold, refresh, batch; `select * from
            pgclarify.help('estimate')` explains them.

    Returns:
        The result of a run of estimate: what questions would cost.
    """
    arguments = {
        "questions": listed(questions),
        "corpus": corpus,
        "top_k": top_k,
        "filter": None if filter is None else to_json(filter, "filter"),
        "document_ids": None if document_ids is None else listed(document_ids),
    }
    return (yield from ask_one(session, Estimate, "estimate", arguments, timed(options, timeout)))


def clarify_many(
    session: Session,
    /,
    questions: Sequence[str],
    keys: Sequence[str] | None = None,
    *,
    corpus: str | None = None,
    top_k: int = 20,
    timeout: float | None = None,
    filter: Mapping[str, object] | None = None,
    document_ids: Sequence[str] | None = None,
    filters: Sequence[Mapping[str, object] | None] | None = None,
    history: Sequence[str] = (),
    **options: object,
) -> Script[Results[Answer]]:
    """Ask many questions at once, and wait for all. Equal questions are asked once.

    If the run of one question fails, the others are still answered.

        for answer in client.clarify_many(["rental cars", "deductible"]):
            print(answer.question, answer.status, len(answer.interpretations))

    Args:
        questions: The questions.
        keys: Your own key of each, returned with its answer.
        corpus: As in clarify.
        top_k: As in clarify.
        timeout: Seconds for all together; None waits without limit.
        filter: Only documents whose metadata fits, such as {"year": {">=": 2025}}; None means all.
        document_ids: Only these documents; None means all, an empty array none.
        filters: Instead of filter, one for each question, None for none; equal questions with equal filters are asked
            once.
        history: Earlier turns, oldest first, one element for each turn; a follow-up is first made to stand alone, as
            rewrite does.
        options: method, relax, retrieval, max_passages, recall, reranker, consolidation, include, hdbscan, singletons,
            prefer, passages_per_call, verify, ask_back, threshold, refresh, batch; `select * from
            pgclarify.help('clarify_many')` explains them.

    Returns:
        One answer for each question, in order, even if nothing was found.
    """
    arguments = {
        "questions": listed(questions),
        "keys": None if keys is None else listed(keys),
        "corpus": corpus,
        "top_k": top_k,
        "timeout": interval(timeout),
        "filter": None if filter is None else to_json(filter, "filter"),
        "document_ids": None if document_ids is None else listed(document_ids),
        "filters": None if filters is None else [None if one is None else to_json(one, "filters") for one in filters],
        "history": listed(history),
    }
    return (yield from ask_many(session, Answer, "clarify_many", arguments, options))
