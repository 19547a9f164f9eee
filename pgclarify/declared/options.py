"""Options that several functions have, as most of them have them."""

from __future__ import annotations

from typing import Final

from pgclarify.declared.forms import Option

_LARGEST_ID: Final = 2**63 - 1

METHOD: Final = Option(
    name="method",
    choices=("hybrid", "dense", "lexical"),
    default="hybrid",
    meaning="How the first passages are found; use lexical for exact words and identifiers, dense for meaning.",
)
RETRIEVAL: Final = Option(
    name="retrieval",
    choices=("fixed", "adaptive"),
    default="fixed",
    meaning="Use adaptive if the best passages are near others: neighbors of what was found are looked at, too.",
)
RELAX: Final = Option(
    name="relax",
    type="boolean",
    default=False,
    meaning="Use true if the right passages are not found: the model first makes the question wider, in one more call, "
    "for which all others wait.",
)
RERANKER: Final = Option(
    name="reranker",
    longest=500,
    keywords=("signal", "model"),
    never=("none", "embedding"),
    meaning="Scores passages once more, by signal, model, endpoint: and a name, or the name of a CrossEncoder; use it "
    "if the right passages are found, but ranked too low.",
)
MAX_PASSAGES: Final = Option(
    name="max_passages",
    type="integer",
    least=1,
    most=1000,
    meaning="Most passages that are judged or scored; raise it to find more, lower it to pay less.",
)
TOP_K: Final = Option(
    name="top_k",
    type="integer",
    least=1,
    most=100,
    meaning="How many passages are read; raise it to miss less, lower it to pay less.",
)
RECALL: Final = Option(
    name="recall",
    type="number",
    least=0.5,
    most=0.99,
    meaning="Reads as few of the top_k passages as keep this share of the answers that your earlier runs found in "
    "them, with a risk of 0.05; all, with a notice, if those are too few.",
)
CONSOLIDATION: Final = Option(
    name="consolidation",
    choices=("default", "conservative", "hdbscan"),
    default="default",
    meaning=(
        "How readings are grouped; conservative shows only those that are likely right, best first, hdbscan groups by "
        "density."
    ),
)
DENSITY: Final = (
    Option(
        name="embed",
        choices=("question_answer", "question"),
        meaning="What consolidation hdbscan compares: by default, readings with their answers; question compares "
        "readings alone.",
    ),
    Option(
        name="min_cluster_size",
        type="integer",
        least=2,
        most=1000,
        meaning="Fewest readings that hdbscan takes for a group, by default 2.",
    ),
    Option(
        name="min_samples",
        type="integer",
        least=1,
        most=1000,
        meaning="How many readings make a dense place for hdbscan, by default 1; raise it to leave more alone.",
    ),
    Option(
        name="allow_single_cluster",
        type="boolean",
        meaning="Use true if all readings may mean the same: otherwise hdbscan finds two groups, or none.",
    ),
    Option(
        name="cluster_selection_epsilon",
        type="number",
        least=0,
        most=2,
        meaning="Groups closer than this cosine distance are one for hdbscan, by default 0.",
    ),
)
HDBSCAN: Final = Option(
    name="hdbscan",
    type="object",
    keys=DENSITY,
    meaning=f"Parameters of consolidation hdbscan, as one object: {', '.join(one.name for one in DENSITY)}; help of "
    "consolidate explains them.",
)
INCLUDE: Final = Option(
    name="include",
    choices=("certain", "likely", "all"),
    meaning="How sure the readings are that come back, of those that were read: all adds the less sure ones, certain "
    "leaves out more. It makes no new run and no call. By default, those that the run shows.",
)
SINGLETONS: Final = Option(
    name="singletons",
    choices=("keep", "drop"),
    default="keep",
    meaning="Use drop to hide readings that only one document supports.",
)
PREFER: Final = Option(
    name="prefer",
    choices=("newest",),
    meaning="Use newest to hide readings that ask the same as a newer one, by the dates of documents, and have another "
    "answer; older_hidden counts them.",
)
PASSAGES_PER_CALL: Final = Option(
    name="passages_per_call",
    type="integer",
    least=1,
    most=100,
    meaning="Most passages that the model reads in one call; by default as many as its trial has shown that it keeps "
    "apart. Use 1 for texts that strangers write, or for the shortest wait.",
)
VERIFY: Final = Option(
    name="verify",
    choices=("checks", "reader", "model", "none"),
    default="checks",
    meaning=(
        "What must confirm a reading: checks of its words against the passage; use reader for fewer wrong readings of "
        "a small model, model for fewer at more calls, none to require only the quote."
    ),
)
ASK_BACK: Final = Option(
    name="ask_back",
    choices=("when_vague",),
    meaning="With when_vague, a clear question is answered in one pass, and only a vague one is clarified.",
)
THRESHOLD: Final = Option(
    name="threshold",
    type="number",
    least=0,
    most=1,
    meaning="A question is vague if its probability is at least this; raise it to ask back less often.",
)
REFRESH: Final = Option(
    name="refresh",
    type="integer",
    least=0,
    most=1000000,
    meaning="A new number asks the model again, although the answer is paid for.",
)
BATCH: Final = Option(
    name="batch",
    type="boolean",
    meaning=(
        "Use true with submit or dbt for answers within a day at half the price, if the endpoint has a batch API."
    ),
)
MAX_CALLS: Final = Option(
    name="max_calls",
    type="integer",
    least=0,
    most=1000000000000000,
    meaning="Most calls of the model, of a run or of a budget; raise it if runs end early.",
)
RULES_OF: Final = Option(name="corpus", longest=200, meaning="Corpus whose rules, classifier and readings count.")
REPLY: Final = Option(
    name="reply",
    type="integer",
    least=1,
    most=_LARGEST_ID,
    meaning="Run of a reply, to ask back once more about the question that it made.",
)
TIMEOUT: Final = Option(
    name="timeout", type="interval", default="60s", meaning="How long to wait; the run goes on afterwards."
)
DRY_RUN: Final = Option(
    name="dry_run",
    type="boolean",
    default=False,
    meaning="Use true to see what would be done, and change nothing.",
)
