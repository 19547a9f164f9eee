"""What the dashboard shows: a tab for each story. `python -m dashboards.bundle` writes Superset's files from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

# How often a run's question was asked: once, unless it does not count, and again for each reuse of its answer.
ASKED = "served + is_counted::integer"
# Runs whose questions count as asked and have ended with a result.
ENDED = "operation = 'clarify' and status in ('succeeded', 'partial')"

SPENT = "spent_usd / nullif(max_cost_usd, 0), calls::numeric / nullif(max_calls, 0)"


@dataclass(frozen=True)
class Number:
    """One big number.

    Attributes:
        title: Title of the chart, with the unit.
        view: Public view that it reads.
        value: Aggregate, in SQL.
        where: Condition in SQL.
        time: Column that the filter Time applies to.
    """

    title: str
    view: str
    value: str
    where: str = ""
    time: str = ""


@dataclass(frozen=True)
class Bars:
    """Bars, stacked if there are several values or series.

    Attributes:
        title: Title of the chart.
        view: Public view that it reads.
        by: Column or expression of the bars; `monthly` cuts a time.
        values: Aggregates in SQL, by the name that the legend shows.
        monthly: Whether `by` is a time, and each bar a month.
        series: Column that splits each bar.
        where: Condition in SQL.
        time: Column that the filter Time applies to.
        lies: Whether bars are horizontal.
        is_fixed: Whether it stays as it is when a cell of another chart is clicked.
    """

    title: str
    view: str
    by: str
    values: dict[str, str]
    monthly: bool = False
    series: str = ""
    where: str = ""
    time: str = ""
    lies: bool = False
    is_fixed: bool = False


@dataclass(frozen=True)
class Rows:
    """A table of rows as they are.

    Attributes:
        title: Title of the chart.
        view: Public view that it reads.
        columns: Columns in their order.
        first: Columns that sort it, highest first; lowest first with a minus.
        where: Condition in SQL.
        time: Column that the filter Time applies to.
        height: Height in units of 8 pixels.
    """

    title: str
    view: str
    columns: tuple[str, ...]
    first: tuple[str, ...]
    where: str = ""
    time: str = ""
    height: int = 50


@dataclass(frozen=True)
class Sums:
    """A table with a row for each group.

    Attributes:
        title: Title of the chart.
        view: Public view that it reads.
        by: Columns that make a group.
        values: Aggregates in SQL, by their heading. The first one sorts the table, highest first.
        where: Condition in SQL.
        time: Column that the filter Time applies to.
        height: Height in units of 8 pixels.
    """

    title: str
    view: str
    by: tuple[str, ...]
    values: dict[str, str]
    where: str = ""
    time: str = ""
    height: int = 36


Chart: TypeAlias = Number | Bars | Rows | Sums


@dataclass(frozen=True)
class Story:
    """A tab.

    Attributes:
        name: Title of the tab.
        text: What it shows, and what an empty chart means; Markdown.
        charts: Charts from top to bottom; each is as wide as the page, also on a phone.
        by_corpus: Whether the filter Corpus applies.
    """

    name: str
    text: str
    charts: list[Chart]
    by_corpus: bool = True


def _page(run_id: str) -> str:
    """Return SQL of the address of a run on the page of `pgclarify ui`, as in client_name_page."""
    return f"coalesce(rtrim(current_setting('pgclarify.page_url', true), '/'), '') || '/run/' || {run_id}"


# Columns that a view does not have. A run is text, so that a click on it filters other charts by the same column.
ADDED = {
    "asked_question": {"run": "last_run_id::text", "page": _page("last_run_id")},
    "stale_answer": {"run": "run_id::text", "page": _page("run_id")},
    "citation": {"run": "run_id::text"},
    "run": {"run": "run_id::text"},
    "feedback": {"run": "run_id::text"},
}

# Headings of columns that differ from their names with spaces.
HEADINGS = {
    "corpus_changes": "changes of the corpus since",
    "cost_usd": "cost (US dollars)",
    "created_at": "asked at (UTC)",
    "has_corpus_changed": "corpus has changed since",
    "interpretation": "reading",
    "interpretations": "readings",
    "is_current": "quote is still there",
    "lag_seconds": "waiting for (seconds)",
    "last_asked_at": "last asked at (UTC)",
    "last_unanswered_at": "last without an answer at (UTC)",
    "left_calls": "left (calls)",
    "left_usd": "left (US dollars)",
    "level": "how bad",
    "lost_quotes": "quotes that are gone",
    "given_by": "said by",
    "max_calls": "limit (calls)",
    "max_cost_usd": "limit (US dollars)",
    "oldest_queued_seconds": "longest wait (seconds)",
    "page": "page of the run",
    "pending": "pending (documents)",
    "pending_documents": "pending (documents)",
    "pending_passages": "pending (passages)",
    "queued": "waiting (runs)",
    "remedy": "what to do",
    "requested_by": "asked by",
    "requesters": "roles that asked",
    "resets_at": "period ends at (UTC)",
    "running": "running (runs)",
    "served": "times reused",
    "spent_usd": "spent (US dollars)",
    "title": "document",
    "updated_at": "said at (UTC)",
}

STORIES = [
    Story(
        "What people ask",
        "**Searches, and how they ended.** *Not answered*: a language model read the passages, and none answers."
        " *Not known*: no language model read them, or calls failed.\n\n"
        "Empty? There were no searches in this time, or the role of this dashboard is not an analyst of the corpus.",
        [
            Bars(
                "Searches by month",
                "run",
                by="created_at",
                monthly=True,
                values={
                    "answered": f"sum({ASKED}) filter (where interpretations > 0)",
                    "not answered": f"sum({ASKED}) filter (where stop_code = 'not_answered')",
                    "not known": f"sum({ASKED}) filter (where interpretations = 0 and stop_code <> 'not_answered')",
                },
                where=ENDED,
                time="created_at",
            ),
            Rows(
                "Questions that are asked most",
                "asked_question",
                ("question", "times_asked", "requesters", "interpretations", "last_asked_at", "run", "page"),
                ("times_asked",),
                time="last_asked_at",
            ),
        ],
    ),
    Story(
        "Not answered",
        "**What to write next.** A language model read the passages that were found, none answers the question, and"
        " no later search found an answer.\n\n"
        "Empty? Every question has an answer, or no language model has read the passages.",
        [
            Number(
                "Questions without an answer",
                "asked_question",
                "count(*)",
                where="is_gap",
                time="last_unanswered_at",
            ),
            Bars(
                "Why searches found nothing",
                "run",
                by="stop_code",
                values={"searches": f"sum({ASKED})"},
                where=f"{ENDED} and interpretations = 0",
                time="created_at",
                lies=True,
            ),
            Rows(
                "Questions that the documents do not answer",
                "asked_question",
                (
                    "question",
                    "times_unanswered",
                    "last_unanswered_at",
                    "has_corpus_changed",
                    "run",
                    "page",
                ),
                ("times_unanswered",),
                where="is_gap",
                time="last_unanswered_at",
            ),
        ],
    ),
    Story(
        "Readings",
        "**What a vague question can mean, with the evidence.** Click a run in the first table: the last table then"
        " shows only the readings and quotes of this run. Click it again to see all.\n\n"
        "Empty? No question had several readings, or you clicked a run without readings.",
        [
            Rows(
                "Questions with several readings",
                "asked_question",
                ("run", "question", "interpretations", "times_asked", "last_asked_at"),
                ("interpretations", "times_asked"),
                where="interpretations > 1",
                time="last_asked_at",
                height=40,
            ),
            Bars(
                "Questions by number of readings",
                "asked_question",
                by="interpretations",
                values={"questions": "count(*)"},
                where="interpretations is not null",
                time="last_asked_at",
                is_fixed=True,
            ),
            Rows(
                "Readings and their quotes",
                "citation",
                (
                    "run",
                    "question",
                    "ordinal",
                    "interpretation",
                    "answer",
                    "title",
                    "place",
                    "dated",
                    "quote",
                    "is_current",
                ),
                ("created_at", "run_id", "-ordinal", "-rank"),
                where="operation = 'clarify'",
                time="created_at",
                height=60,
            ),
        ],
    ),
    Story(
        "Out of date",
        "**Answers from before a change of the corpus.** They may still be right. *Quotes that are gone* are no"
        " longer in the documents. To renew an answer, ask the question again.\n\n"
        "Empty? No document has changed since the last answers.",
        [
            Number("Answers that may be out of date", "stale_answer", "count(*)", time="created_at"),
            Bars(
                "Answers that may be out of date, by the month in which they were asked",
                "stale_answer",
                by="created_at",
                monthly=True,
                values={"answers": "count(*)"},
                time="created_at",
            ),
            Rows(
                "Answers that may be out of date, most reused first",
                "stale_answer",
                (
                    "question",
                    "requested_by",
                    "created_at",
                    "served",
                    "corpus_changes",
                    "lost_quotes",
                    "run",
                    "page",
                ),
                ("served", "created_at"),
                time="created_at",
            ),
        ],
    ),
    Story(
        "Cost",
        "**Cost against budget.** The filter Time does not change budgets. The tables have only budgets that apply"
        " to the role of this dashboard.\n\n"
        "Empty? There is no budget, or no run called a language model that has a price.",
        [
            Rows(
                "Budgets in their current period",
                "budget",
                (
                    "name",
                    "period",
                    "spent_usd",
                    "max_cost_usd",
                    "left_usd",
                    "calls",
                    "max_calls",
                    "left_calls",
                    "resets_at",
                ),
                ("-name",),
                height=22,
            ),
            Bars(
                "Budgets by what is spent (%)",
                "budget",
                by="name",
                values={"%": f"max(100 * greatest({SPENT}))"},
                lies=True,
            ),
            Bars(
                "Cost by month (US dollars)",
                "usage",
                by="day",
                monthly=True,
                values={"US dollars": "sum(cost_usd)"},
                series="requested_by",
                time="day",
            ),
            Sums(
                "Cost by role, operation and model",
                "usage",
                ("requested_by", "operation", "model"),
                {
                    "cost (US dollars)": "sum(cost_usd)",
                    "runs": "sum(runs)",
                    "calls": "sum(completions)",
                    "calls saved": "sum(reused_completions)",
                    "runs without a price": "sum(unpriced_runs)",
                    "calls without a reply": "sum(unanswered_calls)",
                    "at most, for them (US dollars)": "sum(unanswered_usd)",
                },
                time="day",
            ),
            Sums(
                "Savings by role, operation and model",
                "usage",
                ("requested_by", "operation", "model"),
                {
                    "saved by reuse (US dollars)": "sum(reuse_saved_usd)",
                    "calls reused": "sum(reused_completions)",
                    "saved by batches (US dollars)": "sum(batch_saved_usd)",
                    "calls in batches": "sum(batched_completions)",
                    "saved by cached input (US dollars)": "sum(cache_saved_usd)",
                    "cached tokens": "sum(cached_tokens)",
                },
                time="day",
            ),
        ],
        by_corpus=False,
    ),
    Story(
        "Health",
        "**Workers and the queue, now.** Without a worker, runs wait. `pgclarify doctor` says more.\n\n"
        "Empty? Nothing needs attention.",
        [
            Number("Workers that are alive", "worker_status", "count(*)", where="is_alive"),
            Rows(
                "The queue, now",
                "queue_status",
                ("queued", "running", "oldest_queued_seconds", "pending_documents", "pending_passages"),
                (),
                height=18,
            ),
            Rows(
                "What needs attention",
                "finding",
                ("level", "kind", "name", "finding", "count", "remedy"),
                ("-level", "-kind"),
                height=30,
            ),
            Rows(
                "Corpora",
                "corpus",
                ("corpus", "documents", "pending", "failed", "lag_seconds", "error"),
                ("-corpus",),
                height=22,
            ),
            Bars(
                "Runs that failed or have only a part of their result, by month",
                "run",
                by="created_at",
                monthly=True,
                values={"runs": "count(*)"},
                series="status",
                where="status in ('failed', 'partial')",
                time="created_at",
            ),
        ],
        by_corpus=False,
    ),
    Story(
        "Feedback",
        "**What people say of the readings.** *Right (%)* is the share of right ones among those that are called"
        " right, wrong or useless.\n\n"
        "Empty? No reading was rated in this time, or the role of this dashboard is not an analyst of the corpus.",
        [
            Bars(
                "Ratings by month",
                "feedback",
                by="created_at",
                monthly=True,
                values={
                    "right": "count(*) filter (where rating = 'right')",
                    "wrong": "count(*) filter (where rating = 'wrong')",
                    "useless": "count(*) filter (where rating = 'useless')",
                    "missing": "count(missing)",
                },
                time="created_at",
            ),
            Sums(
                "Right by corpus and model",
                "feedback",
                ("corpus", "model", "prompt_version"),
                {
                    "rated": "count(rating)",
                    "right (%)": "100 * avg((rating = 'right')::integer)",
                    "missing": "count(missing)",
                },
                time="created_at",
                height=22,
            ),
            Rows(
                "What is wrong or missing",
                "feedback",
                (
                    "question",
                    "interpretation",
                    "answer",
                    "rating",
                    "missing",
                    "comment",
                    "given_by",
                    "updated_at",
                    "run",
                ),
                ("updated_at",),
                where="rating is distinct from 'right'",
                time="created_at",
            ),
        ],
    ),
]
