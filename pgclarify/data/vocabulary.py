"""Names that applications and workers share: the closed vocabularies, and the class of a document.

Each word of a vocabulary stands here, once, with its meaning. CHECKs and comments of tables, records of the client and
docs/vocabularies.md follow from here. Functions in SQL and macros of dbt spell words, and a test compares them. If you
add a word to a column with a CHECK, a revision changes that CHECK in databases that exist.

They are separate from the data of workers (`verdicts`, `investigation`, `dialogue`), so that the client need not import
that. Building its classes would be a third of the client's import time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Any, Final, Self

# Prefix of the name of an embedding model behind an endpoint.
AT_ENDPOINT: Final = "endpoint:"
# Prefix of the names of threads that load models.
LOADING: Final = "loading"


class Vocabulary(StrEnum):
    """The words that something may have.

    Attributes:
        meaning: The meaning of a word, as a part of a sentence; empty if the word says it.
        advice: What to do about it, in whole sentences; empty if there is nothing to say.
    """

    meaning: str
    advice: str

    def __new__(cls, word: str, meaning: str = "", advice: str = "") -> Self:
        """Make a word."""
        made = str.__new__(cls, word)
        made._value_ = word
        made.meaning, made.advice = meaning, advice
        return made


class RunStatus(Vocabulary):
    """States of a run; docs/run-states.md has the diagram."""

    QUEUED = "queued", "no worker executes it yet"
    RUNNING = "running", "a worker executes it"
    SUCCEEDED = "succeeded", "it ended, with or without a result"
    PARTIAL = "partial", "valid, but some passages could not be judged, or a budget ended it"
    FAILED = "failed", "it has no result"
    CANCELLED = "cancelled", "its caller ended it"


_GET_A_MODEL: Final = "Give the worker a language model (OPENAI_BASE_URL or OPENAI_API_KEY, and PGCLARIFY_LLM_MODEL): "
_READS_MORE: Final = "it reads more than the rules do. Without one, ask in English, in other words."


class StopCode(Vocabulary):
    """Why a run that was not cancelled has no result, or a partial one; docs/run-states.md defines each code."""

    NOT_ANSWERED = (
        "not_answered",
        "a language model judged the passages that were found, and none of them answers the question",
        "Ask in other words, or look further down the ranking with a larger top_k.",
    )
    NO_LANGUAGE_MODEL = (
        "no_language_model",
        "rules judged the passages without a language model and found no answer in them",
        _GET_A_MODEL + _READS_MORE,
    )
    LANGUAGE = (
        "language",
        "the question, or what was found, is in a language that is not read without a language model",
        _GET_A_MODEL + "without one, only English is read.",
    )
    THRESHOLD = (
        "threshold",
        "rules judged the passages without a language model, and what they found is too improbable to be shown",
        _GET_A_MODEL + _READS_MORE,
    )
    UNPROVEN = (
        "unproven",
        "answers were given that the documents do not prove",
        "See with explain why each was left out. Ask in other words, or take another language model.",
    )
    NO_PASSAGE = (
        "no_passage",
        "the search found no passage that could be judged",
        "Ask in other words. Explain says how many passages a filter or a list of documents leaves, and view corpus "
        "whether documents are searchable.",
    )
    LIMIT = (
        "limit",
        "a limit that the options set was reached",
        "See with explain what it came to. Raise the limit, which is an option such as max_calls or max_answers.",
    )
    BUDGET = (
        "budget",
        "a budget let no further call through",
        "See what is left in view budget. If you ask again, only the missing calls are paid.",
    )
    FAILED_CALLS = (
        "failed_calls",
        "calls failed, so that not all was judged",
        "See why with explain. If you ask again, only the missing calls are paid.",
    )


class Route(Vocabulary):
    """What a run with ask_back when_vague decided."""

    ANSWERED = "answered", "the question was clear, and one pass answered it"
    CLARIFIED = "clarified", "it was vague, and has readings"


class Outcome(Vocabulary):
    """The decision on one candidate."""

    GROUNDED = "grounded", "the passage answers a reading"
    ABSTAINED = "abstained", "it does not"
    FAILED = "failed", "it could not be judged"
    ERASED = "erased", "the verdict was erased with its document"


class Refusal(Vocabulary):
    """Why the verdict of a model is refused or doubted; docs/methods/quotation.md describes each check."""

    UNPROVEN = "unproven", "the quote does not occur in the passage"
    FRAGMENT = "fragment", "the quote is too short to prove the answer"
    ANSWER_NOT_QUOTED = "answer_not_quoted", "the quote does not say the answer"
    BESIDE_THE_POINT = "beside_the_point", "the quote does not speak of what the reading asks"
    ABOUT_ANOTHER = "about_another", "the passage, or the quote, is about another thing than the question"
    NOT_CONFIRMED = "not_confirmed", "read once more, the passage does not give the answer"


class Level(Vocabulary):
    """How sure a reading is: the narrowest value of option include that shows it."""

    CERTAIN = "certain", "it is right so often that consolidation conservative shows it"
    LIKELY = "likely", "it is shown unless something else is asked for"
    ALL = "all", "it is less sure, and shown only if nothing surer was read"


class StepKind(Vocabulary):
    """Kinds of steps of an investigation."""

    DIRECT = "direct", "the question itself"
    FOLLOW_UP = "follow_up", "a question of the plan"
    CONCLUSION = "conclusion", "the answer to it"


class StepOutcome(Vocabulary):
    """How a step of an investigation ended."""

    ANSWERED = "answered", "a quote proves the answer"
    NOT_IN_CORPUS = "not_in_corpus", "there is no evidence"
    CUT_OFF = "cut_off", "the limit on calls was reached"
    FAILED = "failed", "the model could not be reached or understood"


class AmbiguityKind(Vocabulary):
    """What makes a question ambiguous. Source: Detect, then rewrite (summary): its taxonomy."""

    PRAGMATIC = "pragmatic", "what it refers to is missing"
    SYNTACTIC = "syntactic", "it is vague"
    LEXICAL = "lexical", "a name or word in it has several meanings"


class ReasonSource(Vocabulary):
    """Where a reason for ambiguity comes from."""

    CLASSIFIER = "classifier", "it was learned from examples"
    FEATURE = "feature", "it was counted in the text"
    RULE = "rule", "a rule of ambiguity matched"


class AmbiguityType(Vocabulary):
    """How to resolve an ambiguous question. Source: AT-CoT, §3.1 and Table 1."""

    SEMANTIC = "semantic", "it can mean several things"
    GENERALIZE = "generalize", "something broader may be meant"
    SPECIFY = "specify", "something narrower may be meant"


class QuestionForm(Vocabulary):
    """Forms of clarifying questions. Source of the last two: AT-CoT, §4.2."""

    SPLIT = "split", "which readings of clarify are meant"
    RESPOND = "respond", "questions to answer freely"
    SELECT = "select", "reformulations to choose from"


class Origin(Vocabulary):
    """How a passage was found."""

    DENSE = "dense", "by its meaning"
    LEXICAL = "lexical", "by its words"
    NEIGHBOR = "neighbor", "near another passage"


class PlaceKind(Vocabulary):
    """Kinds of places in a file."""

    PAGE = "page"
    SLIDE = "slide"
    SHEET = "sheet"
    ROW = "row"
    PICTURE = "picture"


class StageName(Vocabulary):
    """Stages of a run, as explain shows them."""

    DETECTION = "detection", "is the question ambiguous?"
    RELAXATION = "relaxation", "make the question fit for the search"
    RETRIEVAL = "retrieval", "search"
    NEIGHBORS = "neighbors", "follow the neighborhood graph"
    RERANKING = "reranking", "score what was found"
    JUDGEMENT = "judgement", "judge each passage"
    CONFIRMATION = "confirmation", "read answers once more"
    CONSOLIDATION = "consolidation", "group readings that mean the same"
    DECOMPOSITION = "decomposition", "split the question of an investigation"
    SAMPLING = "sampling", "sample answers, to measure how uncertain they are"
    ANSWERING = "answering", "answer from several passages"
    REWRITING = "rewriting", "rewrite the question"
    QUESTIONING = "questioning", "propose clarifying questions"
    CHECKING = "checking", "check which of them can be answered; for an estimate, what is paid already"
    LISTING = "listing", "merge spellings of answers"


class Purpose(Vocabulary):
    """What a call of a model is for; pgclarify/prompts/versions.py has the version of each prompt."""

    RELAXATION = "relaxation", "make a question fit for the search"
    VERDICT = "verdict", "judge a passage"
    JOINT_VERDICTS = "joint_verdicts", "judge several passages"
    MODEL_TRIAL = "model_trial", "test how many passages a model reads in one call"
    CONFIRMATION = "confirmation", "confirm answers"
    RELEVANCE = "relevance", "rerank by the language model"
    RERANKING = "reranking", "rerank by a cross-encoder or an endpoint"
    ENTAILMENT = "entailment", "compare answers by the language model"
    INFERENCE = "inference", "compare answers by a cross-encoder or an endpoint"
    PLAN = "plan", "split the question of an investigation"
    SAMPLE = "sample", "sample an answer"
    ANSWER = "answer", "answer a step of an investigation"
    CONCLUSION = "conclusion", "answer the whole question of an investigation"
    REWRITING = "rewriting", "rewrite a question"
    REFORMULATION = "reformulation", "write a question with what was replied"
    QUESTIONS = "questions", "propose clarifying questions"
    BASELINE_PROPOSAL = "baseline_proposal", "a baseline of evaluations"
    BASELINE_VERIFICATION = "baseline_verification", "a baseline of evaluations"
    BASELINE_ANSWERS = "baseline_answers", "a baseline of evaluations"
    BASELINE_DISAMBIGUATION = "baseline_disambiguation", "a baseline of evaluations"
    JUDGE_SUPPORT = "judge_support", "the judge of evaluations"
    JUDGE_MATCH = "judge_match", "the judge of evaluations"


class Mend(Vocabulary):
    """Kinds of mends of replies; docs/endpoints.md says when a reply is mended."""

    THOUGHTS = "thoughts", "the thoughts before the answer were left out"
    CODE_BLOCK = "code_block", "the object was in a code block"
    WORDS = "words", "words before the object, or marks or an offer of help after it, were left out"
    SYNTAX = "syntax", "a mark of JSON was wrong or missing, such as a comma before the end"
    ESCAPED = "escaped", "the whole object, or its line breaks, were escaped once more"
    WRAPPED = "wrapped", "the object was alone in a list, or in another object"
    EXTRA_KEY = "extra_key", "a key that was not asked for was left out"
    QUOTING = "quoting", "a number stood for a text, or a text for a number, true or false"
    REASONING = "reasoning", "the server sent the answer in the field of the thoughts"
    ARGUMENTS = "arguments", "the server sent the arguments of a tool as an object"
    STREAM = "stream", "the server sent the reply piece by piece"
    QUOTE = "quote", "the quote said a sentence of the passage in other words, and became this sentence"


class Provider(Vocabulary):
    """What judges passages."""

    AUTO = "auto", "only as a setting: openai if a language model is set, else extractive on the embedded server"
    OPENAI = "openai", "a language model"
    EXTRACTIVE = "extractive", "rules"


class SourceState(Vocabulary):
    """States of an attached table."""

    LOADING = "loading", "rows are compared with documents"
    FOLLOWING = "following"
    FAILED = "failed", "see error"
    DETACHED = "detached", "its documents are kept"
    REMOVING = "removing", "its documents are being removed"


class LoadPhase(Vocabulary):
    """Phases of the load of an attached table."""

    ROWS = "rows", "rows become documents"
    DOCUMENTS = "documents", "documents without a row are removed"


class SpaceState(Vocabulary):
    """States of an embedding space."""

    BUILDING = "building", "being filled"
    ACTIVE = "active", "searched"
    RETIRED = "retired", "replaced"


class BudgetPeriod(Vocabulary):
    """Periods of a budget."""

    DAY = "day", "a day in UTC"
    MONTH = "month", "a month in UTC"
    TOTAL = "total", "all time since its creation"


class EmbeddingUse(Vocabulary):
    """What texts were embedded for."""

    PASSAGES = "embed_passages", "of a corpus"
    QUESTIONS = "embed_questions", "also readings and answers of runs"


class Rating(Vocabulary):
    """What a person says of a reading."""

    RIGHT = "right", "its answer is right"
    WRONG = "wrong", "its answer is wrong"
    USELESS = "useless", "it is not wrong, but no help"


class FindingKind(Vocabulary):
    """What a finding is about."""

    QUEUE = "queue"
    RUNS = "runs"
    CORPORA = "corpora"
    DOCUMENTS = "documents"
    GRAPH = "graph"
    TABLES = "tables"
    COSTS = "costs"
    BUDGETS = "budgets"
    IDENTITIES = "identities", "what roles left that were dropped"
    NODES = "nodes", "of a Citus cluster"


class FindingLevel(Vocabulary):
    """How serious a finding is."""

    PROBLEM = "problem", "something does not work"
    WARNING = "warning", "it works, but not as well as it could"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Document:
    """One citable document, as a parser of files returns it.

    Attributes:
        document_id: The user's own id; unique in its corpus.
        content: Plain text or Markdown. Offsets of passages and citations count in it.
        title: Null if the document has none.
        uri: Where people find the original.
        metadata: Any JSON object.
        readers: Roles that may read it; None means every reader of the corpus.
        dated: When it was written or published: a time, or a day. A time without a zone is in UTC. None if it is
            unknown; then the corpus may take it from the metadata.
        author: Who wrote it, for people; None if that is unknown.
        origin: The file of the document, as `pgclarify.ingest.naming` spells it; None without a file. A file replaces
            only its own document, which keeps its id.
        places: Where its pages, slides, sheets or rows begin: objects with start_char, kind and name, in this order.
        unread: What its file has and the content does not, such as pictures: each kind with its number.
        found_in: Where it was found, for errors: a file, or "line 3 of faq.jsonl"; None if it was not read from a file.
    """

    document_id: str
    content: str
    title: str | None = None
    uri: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    readers: tuple[str, ...] | None = None
    origin: str | None = None
    dated: date | None = None
    places: Sequence[Mapping[str, Any]] = ()
    unread: Mapping[str, int] = field(default_factory=dict)
    found_in: str | None = field(default=None, compare=False)
    author: str | None = None
