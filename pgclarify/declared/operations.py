"""The operations: what a worker can do with a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pgclarify.declared import options, rows
from pgclarify.declared.forms import Command, Function, Measure, Method, Operation, Option, Parameter

QUESTION: Final = Parameter("question", "text", "1 to 10,000 characters")
CORPUS: Final = Parameter("corpus", "text", "its name; null means pgclarify.corpus, or the only one", "null")
TOP_K: Final = Parameter("top_k", "integer", "passages to judge, 1 to 1000", "20", json="integer", least=1, most=1000)
HISTORY: Final = Parameter(
    "history", "text[]", "earlier turns, oldest first, one element for each turn", "'{}'", json="array"
)
RUN: Final = Parameter("run_id", "bigint", json="integer", least=1, most=2**63 - 1)
TIMEOUT: Final = Parameter("timeout", "interval", "how long to wait; null waits without limit", "'60s'")

_ANSWERS: Final = frozenset({Measure.READINGS, Measure.RANKING})

CLARIFY_OPTIONS: Final = (
    options.METHOD,
    options.RETRIEVAL,
    options.MAX_PASSAGES,
    options.RERANKER,
    options.CONSOLIDATION,
    options.SINGLETONS,
    options.VERIFY,
    options.ASK_BACK,
    options.THRESHOLD,
    options.REFRESH,
    options.BATCH,
)

CLARIFY: Final = Operation(
    function=Function(
        name="clarify",
        summary="The readings of a vague question that the corpus answers, each with its answer and the documents that "
        "it cites; no row if the corpus answers none. If that is unknown, a warning says why no reading was found.",
        parameters=(QUESTION, CORPUS, TOP_K, TIMEOUT),
        options=CLARIFY_OPTIONS,
        returns=rows.CLARIFICATION,
        is_set=True,
        expected_rows=5,
        calls="clarify",
        apart=("timeout",),
        method=Method(
            about="""\
Ask a vague question, and wait for the readings that the corpus answers.

A partial run is also logged as a warning of logger "pgclarify.client", since an empty list would not show it. So is a \
run that found nothing, if the corpus may have an answer.""",
            example="""\
for reading in client.clarify("rental cars", corpus="insurance"):
    print(reading.interpretation, reading.answer, reading.document_ids)""",
            returns="Readings by falling support. The list is empty if no passage answers, or if none could be read; "
            "then a warning says why.",
        ),
    ),
    rows=rows.CLARIFICATION,
    searches=True,
    searches_as_asked=True,
    relaxes_question=True,
    finds_readings=True,
    answers_questions=True,
    is_asked=True,
    result_table="interpretation",
    result_view="interpretation",
    check_settings="check_judging",
    is_estimated=True,
    measured=_ANSWERS,
    command=Command(
        "ask",
        "Get the readings of a vague question, each with its proof.",
        "Reading passages",
        "'rental cars' --corpus insurance --top-k 50",
        show="readings",
    ),
)

CONSOLIDATE: Final = Operation(
    function=Function(
        name="consolidate",
        summary="Cluster the verdicts of a run again, without a model call; returns rows as clarify does, in a new "
        "run.",
        parameters=(RUN.but(meaning="a clarify run that you may see, of a corpus that you may search"),),
        options=(options.CONSOLIDATION, options.SINGLETONS, options.TIMEOUT),
        returns=rows.CLARIFICATION,
        is_set=True,
        expected_rows=5,
        method=Method(about="Group a run's verdicts again, in a new run. No model is called.", returns="As clarify."),
    ),
    rows=rows.CLARIFICATION,
    finds_readings=True,
    answers_questions=True,
    copies_verdicts=True,
    has_question=False,
    result_table="interpretation",
    result_view="interpretation",
    prepare="prepare_consolidation",
)

SEARCH: Final = Operation(
    function=Function(
        name="search",
        summary="The passages that fit a question best. Method lexical needs no worker.",
        parameters=(QUESTION, CORPUS, TOP_K.but(meaning="how many, 1 to 1000", default="10")),
        # Defaults that depend on other options are in check_searching.
        options=(
            options.METHOD,
            options.RETRIEVAL,
            options.RERANKER,
            options.MAX_PASSAGES.but(
                meaning="Most passages that are scored again, by default 100, or top_k if that is more."
            ),
            options.TIMEOUT,
        ),
        returns=rows.SEARCH_RESULT,
        is_set=True,
        expected_rows=10,
        calls="search_corpus",
        method=Method(
            about="""\
Find the passages that match a question best, without judging them.

With method="lexical" it needs no worker.""",
            example="""\
for passage in client.search("rental cars", corpus="insurance", method="lexical"):
    print(passage.rank, passage.document_id, passage.content)""",
            returns="Passages, best first.",
        ),
    ),
    rows=rows.SEARCH_RESULT,
    searches=True,
    searches_as_asked=True,
    answers_questions=True,
    result_table="candidate",
    result_view="candidate",
    check_settings="check_searching",
    measured=frozenset({Measure.RANKING}),
    command=Command(
        "search",
        "Find the passages that match a question best. They are not judged.",
        "Searching",
        "'rental cars' --corpus insurance -o method=lexical",
        show="passages",
    ),
)

INVESTIGATE: Final = Operation(
    function=Function(
        name="investigate",
        summary="One answer to a question that may take several steps, each with its citations. One row, even if there "
        "is no answer: then outcome says why. It needs a language model.",
        parameters=(QUESTION, CORPUS),
        options=(
            options.METHOD,
            options.RETRIEVAL.but(choices=("adaptive", "fixed"), default="adaptive"),
            options.RERANKER.but(default="signal"),
            options.TOP_K.but(default=10),
            options.MAX_PASSAGES.but(default=32),
            Option(
                name="max_steps",
                type="integer",
                least=0,
                most=20,
                default=4,
                meaning="Most sub-questions of an investigation; 0 or 1 does not split the question.",
            ),
            options.MAX_CALLS.but(least=4, most=10000, default=60),
            Option(
                name="entailment",
                longest=500,
                keywords=("embedding", "model", "none"),
                never=("signal",),
                default="embedding",
                meaning="How sampled answers are compared, if the default joins different ones; none samples none, for "
                "fewer calls.",
            ),
            options.TIMEOUT.but(default="5min"),
        ),
        returns=rows.INVESTIGATION,
        is_set=True,
        expected_rows=1,
        method=Method(
            about="Ask a question that may take several steps, and wait for the answer. Needs a language model.",
            example="""\
found = client.investigate("Who owns the company that insures the rental cars?", corpus="insurance")
print(found.answer or found.outcome, found.confidence, found.document_ids)""",
            returns="The answer with its steps and evidence. If there is no answer, outcome says why.",
            script="ask_one",
        ),
    ),
    rows=rows.INVESTIGATION,
    searches=True,
    answers_questions=True,
    prefers_language_model=True,
    result_table="step",
    result_condition="result.kind = 'conclusion' and result.outcome = 'answered'",
    result_view="investigation_step",
    check_settings="check_investigating",
    measured=_ANSWERS,
    command=Command(
        "investigate",
        "Answer a question of several steps, each with its proof. Needs a language model.",
        "Taking the question apart",
        "'Who pays for the car that replaces one damaged by hail?' -o max_steps=2",
        show="investigation",
    ),
)

LIST_ANSWERS: Final = Operation(
    function=Function(
        name="list_answers",
        summary="The answers of a question that has several, each one once, with quotes: those that most documents "
        "give first. No rows if the corpus has none. Passages are judged as by clarify, with the same calls.",
        parameters=(QUESTION, CORPUS),
        options=(
            options.METHOD,
            options.RERANKER,
            options.TOP_K.but(default=20),
            Option(
                name="max_answers",
                type="integer",
                least=1,
                most=50,
                default=10,
                meaning="Most answers; raise it if the list ends with stop_code limit.",
            ),
            options.TIMEOUT.but(default="5min"),
        ),
        returns=rows.ANSWER,
        is_set=True,
        expected_rows=5,
        method=Method(
            about="Ask for all answers of a question that has several, each one once, with its evidence.",
            example="""\
for found in client.list_answers("Who plays in it?", corpus="films"):
    print(found.ordinal, found.answer, found.document_ids)""",
            returns="Answers, those that most documents give first; none if the corpus has none.",
        ),
    ),
    rows=rows.ANSWER,
    searches=True,
    searches_as_asked=True,
    relaxes_question=True,
    answers_questions=True,
    prefers_language_model=True,
    result_table="listed_answer",
    result_view="listed_answer",
    measured=_ANSWERS,
    command=Command(
        "list-answers",
        "List all answers of a question, each with its proof.",
        "Looking for answers",
        "'Which companies insure rental cars?' -o max_answers=3",
        show="answers",
    ),
)

DETECT_AMBIGUITY: Final = Operation(
    function=Function(
        name="detect_ambiguity",
        summary="Whether a question is ambiguous, and why: one row. It needs no language model.",
        parameters=(QUESTION, HISTORY),
        options=(options.RULES_OF, options.THRESHOLD, options.TIMEOUT),
        returns=rows.DETECTION_VIEW,
        is_set=True,
        expected_rows=1,
        method=Method(
            about="""\
Say whether a question is ambiguous, and why. No language model is needed.

The rules and the classifier are those of option corpus; of no corpus without it, even if the client has one. For a \
log of many searches, use submit_many("detect_ambiguity", questions).""",
            example="""\
found = client.detect_ambiguity("How much does it cost?")
print(found.is_ambiguous, found.probability, found.kind)""",
            returns="The judgement with its reasons.",
            positional=("history",),
            script="ask_one",
        ),
    ),
    rows=rows.DETECTION_VIEW,
    takes_many=True,
    needs_corpus=False,
    reuses_runs=False,
    result_view="detection",
    measured=frozenset({Measure.AMBIGUITY}),
    command=Command(
        "detect-ambiguity",
        "Say whether a question is ambiguous, and why. With --corpus, its rules and its classifier judge.",
        "Looking at the question",
        "'When was she born?' --history 'Who wrote Emma?' --history 'Jane Austen.'",
        show="ambiguity",
    ),
)

REWRITE: Final = Operation(
    function=Function(
        name="rewrite",
        summary="Rewrite a question of a conversation so that it stands alone: one row. The original question is "
        "returned unchanged, without a model call, if it is clear, or if it depends on earlier turns but says enough "
        "itself; also if it cannot be rewritten faithfully: reason says why. Without a language model every question "
        "is returned unchanged.",
        parameters=(QUESTION, HISTORY.but(meaning=f"{HISTORY.meaning}; the last ten count")),
        options=(options.RULES_OF, options.THRESHOLD, options.TIMEOUT),
        returns=rows.REWRITING_VIEW,
        is_set=True,
        expected_rows=1,
        method=Method(
            about="""\
Rewrite a question so that it stands alone, using the earlier turns.

A clear question is returned unchanged, without a call. An ambiguous one needs a language model; without one, it is \
also returned unchanged.""",
            example="""\
said = ["Who wrote Emma?", "Jane Austen."]
print(client.rewrite("When was she born?", said).rewritten)""",
            returns="The rewritten question; or the original one, with the reason, if it could not be rewritten.",
            positional=("history",),
            script="ask_one",
        ),
    ),
    rows=rows.REWRITING_VIEW,
    needs_corpus=False,
    prefers_language_model=True,
    reuses_runs=False,
    result_view="rewriting",
    prepare="prepare_rewriting",
    measured=frozenset({Measure.AMBIGUITY, Measure.RANKING}),
    command=Command(
        "rewrite",
        "Rewrite a question so that it stands alone. A clear question stays as it is. Needs a language model.",
        "Looking at the question",
        "'When was she born?' --history 'Who wrote Emma?' --history 'Jane Austen.'",
        show="rewritten",
        remark="why_rewritten",
    ),
)

CLARIFYING_QUESTIONS: Final = Operation(
    function=Function(
        name="clarifying_questions",
        summary="What to ask back about a vague question: questions to answer, or reformulations to choose, for reply. "
        "A reformulation is checked against the corpus, with the documents that answer it. It needs a language model.",
        parameters=(
            QUESTION.but(
                meaning=f"{QUESTION.meaning}; null with option reply, which has its own question", default="null"
            ),
            CORPUS.but(
                meaning="its name; null means no corpus for questions to respond to and with check none, else "
                "pgclarify.corpus, or the only one; null with option reply"
            ),
            HISTORY.but(meaning="earlier turns, oldest first; empty with option reply"),
        ),
        options=(
            Option(
                name="form",
                choices=("respond", "select"),
                default="respond",
                meaning="Use select for reformulations to choose from instead of questions to answer.",
            ),
            Option(
                name="count",
                type="integer",
                least=1,
                most=10,
                meaning="How many questions or reformulations are proposed: by default 1 to respond to, 5 to select "
                "from.",
            ),
            Option(
                name="check",
                choices=("drop", "mark", "none"),
                meaning="Use mark to keep reformulations that no document answers, none to skip the check.",
            ),
            options.METHOD.but(default=None),
            options.TOP_K.but(
                most=20, meaning="Passages judged for each reformulation, by default 4; raise it to miss less."
            ),
            options.REPLY,
            options.TIMEOUT.but(default="5min"),
        ),
        returns=rows.PROPOSED_QUESTION,
        is_set=True,
        expected_rows=5,
        method=Method(
            about="""\
Propose clarifying questions for a vague question. Needs a language model.

form="select" gives reformulations that the corpus answers, to choose from. form="respond", the default, gives \
questions to answer in your own words, with reply. A conversation has up to three turns: \
`client.clarifying_questions(reply=chosen.run_id)` asks back about the question of that reply. With option reply or \
check="none", the client's corpus is not used.""",
            example="""\
proposed = client.clarifying_questions("rental cars", corpus="insurance", form="select")
chosen = client.reply(proposed[0].run_id, ordinal=proposed[0].ordinal)
readings = client.clarify(chosen.rewritten, corpus="insurance")""",
            returns="Questions or reformulations, in order; none if no document answers any reformulation.",
            positional=("question", "history"),
        ),
    ),
    rows=rows.PROPOSED_QUESTION,
    searches=True,
    searches_as_asked=True,
    is_conversation=True,
    needs_corpus=False,
    prefers_language_model=True,
    result_table="clarifying_question",
    result_view="clarifying_question",
    check_settings="check_asking_back",
    prepare="prepare_clarifying_questions",
    command=Command(
        "clarifying-questions",
        "Ask back about a vague question. Needs a language model.",
        "Thinking of what to ask back",
        "'rental cars' --corpus insurance -o form=select",
        show="proposals",
    ),
)

REPLY: Final = Operation(
    function=Function(
        name="reply",
        summary="Reply to clarifying questions: in words, or by choosing a reformulation. One row: the question that "
        "is meant. For words, a language model makes one question of the conversation; a choice calls no model. To ask "
        "back once more, pass the run of the reply to clarifying_questions, as option reply.",
        parameters=(
            RUN.but(meaning="a run of clarifying_questions"),
            Parameter("reply", "text", "1 to 10,000 characters", "null"),
            Parameter(
                "ordinal",
                "integer",
                "the place of the chosen reformulation, instead of a reply",
                "null",
                json="integer",
                least=1,
                most=10,
            ),
        ),
        options=(options.TIMEOUT,),
        returns=rows.REWRITING_VIEW,
        is_set=True,
        expected_rows=1,
        method=Method(
            about="Reply to clarifying_questions: in your own words, from which the question is then rewritten, or by "
            "a choice.",
            example="""\
proposed = client.clarifying_questions("rental cars", corpus="insurance")
print(client.reply(proposed[0].run_id, "I mean while mine is repaired.").rewritten)""",
            returns="The question as it is now. To ask back once more, pass its run_id to clarifying_questions as "
            "option reply.",
            positional=("reply",),
            script="ask_one",
        ),
    ),
    rows=rows.REWRITING_VIEW,
    is_conversation=True,
    has_question=False,
    needs_corpus=False,
    prefers_language_model=True,
    result_view="rewriting",
    prepare="prepare_reply",
)

ESTIMATE: Final = Operation(
    function=Function(
        name="estimate",
        summary="What clarify, clarify_many or submit_many of these questions would ask of the language model, which "
        "is not called: one row. Questions with reusable answers, and replies that are in the ledger, cost nothing.",
        parameters=(
            Parameter("questions", "text[]", "each 1 to 10,000 characters", json="array"),
            CORPUS,
            TOP_K,
        ),
        options=(*CLARIFY_OPTIONS, options.TIMEOUT),
        returns=rows.ESTIMATE_VIEW,
        is_set=True,
        expected_rows=1,
        remark="With retrieval adaptive, verify model, ask_back or reranker, some calls are only decided during a run, "
        "but calls_at_most is a limit.",
        method=Method(
            about="Estimate what clarify would cost for these questions. No language model is called.",
            example="""\
expected = client.estimate(["rental cars", "deductible"])
print(expected.calls, expected.reused_calls, expected.cost_usd)""",
            script="ask_one",
        ),
    ),
    rows=rows.ESTIMATE_VIEW,
    searches=True,
    has_question=False,
    # It calls no model, but it estimates calls of the model of its worker.
    prefers_language_model=True,
    reuses_runs=False,
    result_view="estimate",
    check_settings="check_judging",
    prepare="prepare_estimate",
    command=Command(
        "estimate",
        "Estimate what asking questions would cost. No language model is called. Replies that are paid for already, "
        "and questions whose answers can be reused, cost nothing.",
        "Looking at what would be asked",
        "'rental cars' deductible --corpus insurance",
        show="costs",
    ),
)

OPERATIONS: Final[Mapping[str, Operation]] = {
    operation.name: operation
    for operation in (
        CLARIFY,
        CONSOLIDATE,
        SEARCH,
        INVESTIGATE,
        DETECT_AMBIGUITY,
        REWRITE,
        CLARIFYING_QUESTIONS,
        REPLY,
        LIST_ANSWERS,
        ESTIMATE,
    )
}


def names_of(trait: str) -> tuple[str, ...]:
    """Return the names of the operations with a trait."""
    return tuple(name for name, operation in OPERATIONS.items() if getattr(operation, trait))
