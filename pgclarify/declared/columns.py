"""Columns of results, as their tables have them, and the columns that rows of results share."""

from __future__ import annotations

from typing import Final

from pgclarify.declared.forms import Column

RUN_ID: Final = Column("run_id", "bigint", "The run.")
STATUS: Final = Column(
    "status",
    "text",
    "How the run ended: succeeded, or partial if calls failed or a budget was spent.",
    record_type="RunStatus",
)
CITATIONS: Final = Column(
    "citations",
    "jsonb",
    "The passages that prove it, the medoid first: array of objects with the columns of view citation.",
    record_type="tuple[Citation, ...]",
)
DOCUMENT_IDS: Final = Column("document_ids", "text[]", "Documents that prove it, best first.")
STOP_CODE: Final = Column(
    "stop_code",
    "text",
    "Why it has no result, or only a part of it: not_answered if a language model judged the passages and none "
    "answers; with other codes, it is unknown whether the corpus has an answer. Null if the result is complete, or if "
    "it has failed or is not over.",
    null=True,
    record_type="StopCode | None",
    default="None",
)

# Of table interpretation. A new column comes last; so it does in rows.
INTERPRETATION: Final = (
    Column("ordinal", "integer", "Place by falling support, from 1; conservative: by falling score."),
    Column("interpretation", "text", "The reading: a question that stands alone.", is_prose=True),
    Column("answer", "text", "Its answer.", is_prose=True),
    Column("support", "integer", "How many documents support it."),
    Column("cohesion", "real", "Mean cosine similarity of the readings in its cluster to their medoid; 1 for one."),
    Column("is_contested", "boolean", "Whether another reading of the run may mean the same and has another answer."),
)

LISTED_ANSWER: Final = (
    Column("ordinal", "integer", "Place in the list, from 1: answers that more documents give come first."),
    Column("answer", "text", "The answer, in its first spelling.", is_prose=True),
    Column("variants", "text[]", "All spellings that were found, the first one first.", is_prose=True),
)

CLARIFYING_QUESTION: Final = (
    Column("ordinal", "integer", "Place in the list, from 1."),
    Column(
        "ambiguity_type",
        "text",
        "semantic (it can mean several things), generalize (something broader may be meant) or specify (something "
        "narrower may be meant).",
        null=True,
        record_type="AmbiguityType | None",
    ),
    Column("reasoning", "text", "The model's reasoning; null if it gave none.", null=True, is_prose=True),
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
        "What a user who means this would ask; null if there are questions to answer.",
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
)

DETECTION: Final = (
    Column("ordinal", "integer", "Place of the question in the run, from 1."),
    Column("question", "text", "The question.", is_prose=True),
    Column("is_ambiguous", "boolean", "True if the probability reaches the threshold of the run, or a rule says so."),
    Column(
        "probability",
        "real",
        "Probability that it is ambiguous, from 0 to 1; 1 if a rule matched; null for a question in another language "
        "than English.",
        null=True,
    ),
    Column(
        "kind",
        "text",
        "pragmatic (what it refers to is missing or in the history), syntactic (it is vague or under-specified) or "
        "lexical (a name or word with several meanings); null unless ambiguous.",
        null=True,
    ),
    Column(
        "reasons",
        "jsonb",
        "The reasons: array of objects with source (classifier, feature or rule), name and text.",
        is_prose=True,
        record_type="tuple[AmbiguityReason, ...]",
    ),
    Column("classifier_version", "text", "Version of the classifier."),
)

REWRITING: Final = (
    Column(
        "rewritten",
        "text",
        "The rewritten question; exactly the original one if it was clear or could not be rewritten.",
        is_prose=True,
    ),
    Column(
        "was_ambiguous",
        "boolean",
        "True if it was ambiguous even with its history; null for replies. False if it was clear. A question that was "
        "clear only with its history has a reason.",
        null=True,
    ),
    Column(
        "reason",
        "text",
        "Why it was rewritten in this way, or not at all; null if there is nothing to say.",
        null=True,
        is_prose=True,
    ),
)

STEP: Final = (
    Column("ordinal", "integer", "Place in the order, from 1; the conclusion is the last one."),
    Column(
        "kind",
        "text",
        "follow_up (a question of the plan), direct (the question itself) or conclusion (the answer to it).",
        record_type="StepKind",
    ),
    Column("question", "text", "The question.", is_prose=True),
    Column("answer", "text", "Its answer; null unless answered.", null=True, is_prose=True),
    Column(
        "outcome",
        "text",
        "answered, not_in_corpus (there is no evidence), cut_off (the limit on calls was reached) or failed (the model "
        "could not be reached or understood). A step that needs the answer of another one has its outcome.",
        record_type="StepOutcome",
    ),
    Column("confidence", "real", "Confidence in the answer, above 0 and up to 1; null unless answered.", null=True),
    Column(
        "reason",
        "text",
        "Why there is no answer, or a remark on the answer; null if there is nothing to say.",
        null=True,
        is_prose=True,
    ),
    Column(
        "semantic_sets",
        "integer",
        "How many groups of equal meaning the sampled answers form; null if no answers were sampled.",
        null=True,
    ),
)

ESTIMATE: Final = (
    Column("questions", "bigint", "How many questions were given."),
    Column("distinct_questions", "bigint", "How many of them are different."),
    Column("answered", "bigint", "How many of these an earlier run has answered, so that they need no call."),
    Column(
        "sampled",
        "bigint",
        "How many of the others were examined. If not all were, the figures are scaled up from these.",
    ),
    Column(
        "calls",
        "bigint",
        "About how many calls of the language model would be made and paid for; equal calls count once.",
    ),
    Column(
        "calls_at_most",
        "bigint",
        "At most so many calls, except for calls that are repeated because their reply was invalid.",
    ),
    Column("reused_calls", "bigint", "About how many further calls are needed whose replies are in the ledger."),
    Column("prompt_tokens", "bigint", "About how many input tokens the calls have."),
    Column("completion_tokens", "bigint", "About how many output tokens they have."),
    Column(
        "cost_usd",
        "numeric",
        "About what the calls cost in US dollars, by the model's price at the time of the estimate; null if it had "
        "none.",
        null=True,
    ),
)
