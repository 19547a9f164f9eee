"""clarifying_questions, and reply."""

from __future__ import annotations

from typing import Final

from pgclarify.data.vocabulary import AmbiguityType, QuestionForm
from pgclarify.declared import options
from pgclarify.declared.columns import CITATIONS, DOCUMENT_IDS, RUN_CORPUS, RUN_ID, RUN_QUESTION, documents
from pgclarify.declared.forms import Column, Command, Function, Method, Operation, Option, Parameter, Rows, Table
from pgclarify.declared.parameters import CORPUS, HISTORY, PART, QUESTION, RUN
from pgclarify.declared.rewrite import REWRITING_VIEW
from pgclarify.declared.words import listed

CLARIFYING_QUESTION: Final = Table(
    name="clarifying_question",
    meaning="A result of clarifying_questions: a question to answer, or a reformulation to choose.",
    columns=(
        Column("ordinal", "integer", "Place in the list, from 1."),
        Column(
            "ambiguity_type",
            "text",
            f"{listed(AmbiguityType)}; null for form split.",
            null=True,
            record_type="AmbiguityType | None",
        ),
        Column(
            "reasoning",
            "text",
            "The model's reasoning; null if it gave none. For form split, how many readings a reply leaves.",
            null=True,
            is_prose=True,
        ),
        Column(
            "clarifying_question",
            "text",
            "A question to the user; null if there are reformulations to choose from.",
            null=True,
            is_prose=True,
        ),
        Column(
            "reformulation",
            "text",
            "What a user who means this would ask; null if there are questions to answer, or if nothing names it.",
            null=True,
            is_prose=True,
        ),
        Column(
            "is_answerable",
            "boolean",
            "Whether a document of the corpus answers the reformulation; null if it was not checked, or could not be "
            "checked.",
            null=True,
        ),
    ),
    # Only form split shows words of documents, and only its citations may be of a medoid.
    withheld_if="citation.is_medoid",
    is_erased=True,
)

PROPOSED_QUESTION: Final = Rows(
    name="proposed_question",
    meaning="A clarifying question, or a reformulation to choose: the row of clarifying_questions.",
    table=CLARIFYING_QUESTION,
    columns=CLARIFYING_QUESTION.after(
        (
            RUN_ID.but(meaning="The run, for reply."),
            *CLARIFYING_QUESTION.named("ordinal", "ambiguity_type", "clarifying_question", "reformulation"),
            DOCUMENT_IDS.but(
                meaning="Documents that answer the reformulation, best first; empty if there are none or it was not "
                "checked."
            ),
            *CLARIFYING_QUESTION.named("reasoning", "is_answerable"),
            CITATIONS.but(
                meaning="The evidence of the reformulation: array of objects with the columns of view citation."
            ),
        )
    ),
    record="ProposedQuestion",
)

CLARIFYING_QUESTION_VIEW: Final = Rows(
    name="clarifying_question",
    meaning="Clarifying questions, and reformulations to choose from. Their citations are in view citation.",
    table=CLARIFYING_QUESTION,
    is_view=True,
    columns=CLARIFYING_QUESTION.after(
        (
            RUN_ID,
            RUN_CORPUS.but(meaning="The corpus's name at the time of the question; null without a corpus."),
            RUN_QUESTION.but(meaning="The question that they are about."),
            Column(
                "form",
                "text",
                f"{listed(QuestionForm)}.",
                # Where nothing split the readings, the model asked.
                source="""\
case
        when result.ambiguity_type is null then run.settings ->> 'form'
        else replace(run.settings ->> 'form', 'split', 'respond')
    end""",
            ),
            *CLARIFYING_QUESTION.named(
                "ordinal",
                "ambiguity_type",
                "clarifying_question",
                "reformulation",
                "reasoning",
                "is_answerable",
            ),
            documents("answered it"),
        )
    ),
)

CLARIFYING_QUESTIONS: Final = Operation(
    function=Function(
        name="clarifying_questions",
        summary="What to ask back about a vague question, for reply. If clarify has found readings of it in the "
        "corpus, what splits them best, without a model: a row for each side, with its documents. Else questions to "
        "answer, or reformulations to choose, which are checked against the corpus, by a language model.",
        parameters=(
            QUESTION.but(
                meaning=f"{QUESTION.meaning}; null with option reply, which has its own question", default="null"
            ),
            CORPUS.but(
                meaning="its name; null means no corpus for questions to respond to and with check none, else "
                "pgclarify.corpus, or the only one; null with option reply"
            ),
            HISTORY.but(meaning="earlier turns, oldest first; empty with option reply"),
            *PART,
        ),
        options=(
            Option(
                name="form",
                choices=tuple(QuestionForm),
                meaning="Use select for reformulations to choose from, respond for questions of the model: by default "
                "split, where you asked clarify of this corpus before and it found two readings or more, else respond.",
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
        returns=PROPOSED_QUESTION,
        is_set=True,
        expected_rows=5,
        method=Method(
            about="""\
Propose clarifying questions for a vague question.

After clarify of the same question, it gives what splits the readings best, a row for each side, without a model. \
Otherwise it needs a language model: form="select" gives reformulations that the corpus answers, to choose from, and \
form="respond" questions to answer in your own words, with reply. A conversation has up to three turns: \
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
    searches=True,
    is_conversation=True,
    needs_corpus=False,
    prefers_language_model=True,
    looks_for_answers=True,
    view=CLARIFYING_QUESTION_VIEW,
    check_settings="check_asking_back",
    prepare="prepare_clarifying_questions",
    command=Command(
        "clarifying-questions",
        "Ask back about a vague question. Needs a language model, unless ask has found readings of it.",
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
        writes=True,
        returns=REWRITING_VIEW,
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
    is_conversation=True,
    has_question=False,
    needs_corpus=False,
    prefers_language_model=True,
    view=REWRITING_VIEW,
    prepare="prepare_reply",
)
