"""The inputs of reports, with hostile text in each field that users or models may write, and parsed pages."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from html.parser import HTMLParser
from types import SimpleNamespace
from typing import Any

from pgclarify.data.vocabulary import Refusal
from pgclarify.database.evaluations import EvaluatedCase, Evaluation
from pgclarify.evaluation.figures import summarize
from pgclarify.reports.evaluation_page import Member
from pgclarify.reports.run_tables import Row, RunReport

HOSTILE = (
    "</script></style></title><script>window.__pwned = 1</script><img src=x onerror='window.__pwned = 1'>"
    '"><svg onload=window.__pwned=1>&amp;{{ 7 * 7 }}{% raw %}\u202egnp.exe\x00\x1b[2J\udc80 '
    "[x](javascript:window.__pwned=1) " + "w" * 3000
)
AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
QUOTE = "The daily limit is $45 a day."


def head(**changes: Any) -> Row:
    """The head of a run of clarify."""
    values: dict[str, Any] = {
        "run_id": 42,
        "operation": "clarify",
        "corpus_id": 1,
        "corpus": "insurance",
        "question": "rental cars",
        "relaxed_question": "car hire",
        "history": ["hello"],
        "parent_run_id": None,
        "requested_by": "alice",
        "status": "succeeded",
        "error": None,
        "corpus_revision": 7,
        "model": "small",
        "prompt_version": "1",
        "completions": 4,
        "reused_completions": 1,
        "prompt_tokens": 2400,
        "completion_tokens": 81,
        "cost_usd": Decimal("0.0123"),
        "created_at": AT,
        "started_at": AT + timedelta(milliseconds=200),
        "finished_at": AT + timedelta(milliseconds=1400),
        "waited_seconds": 0.2,
        "took_seconds": 1.2,
        "stop_reason": None,
        "seen_by": "alice",
        "asked_no_model": False,
        "stop_meaning": None,
        "stop_help": None,
        "page": "/run/42",
    }
    return SimpleNamespace(**{**values, **changes})


def passage(rank: int, *, text: str = "", is_grounded: bool = False, **changes: Any) -> Row:
    """A passage that answers a reading, or has no verdict."""
    content = f"Before. {QUOTE} After. {text}"
    seen = SimpleNamespace(
        rank=rank,
        document_id=f"d{rank}{text}",
        passage_id=100 + rank,
        title=f"Letter {rank} > Coverage{text}",
        uri="https://example.com/letter?a=b&c=d",
        content=content,
        start_char=50,
        score=0.5,
        origin="dense",
        via_rank=None,
        reached_by="dense",
        batch=1,
        step_ordinal=None,
        outcome="grounded" if is_grounded else None,
        interpretation=f"How much is paid?{text}" if is_grounded else None,
        answer=f"$45{text}" if is_grounded else None,
        quote=QUOTE if is_grounded else None,
        quote_start_char=58 if is_grounded else None,
        reason=None,
        is_reused=None,
    )
    return SimpleNamespace(**{**vars(seen), **changes})


def proof(of: Row, rank: int = 1, **changes: Any) -> dict[str, Any]:
    """A citation of a passage; the first is the medoid."""
    return {
        "rank": rank,
        "candidate_rank": of.rank,
        "is_medoid": rank == 1,
        "document_id": of.document_id,
        "passage_id": of.passage_id,
        "title": of.title,
        "uri": of.uri,
        "quote": QUOTE,
        "start_char": 58,
        "is_current": True,
        "dated": None,
        "place": "page 7",
    } | changes


def finding(kind: str, ordinal: int, question: str | None, answer: str | None, *cited: Any, **changes: Any) -> Row:
    """A reading, a step or an answer of a list, with the columns that its kind has."""
    ranks = [proof["candidate_rank"] for proof in cited]
    changes = {"is_shown": True, **changes}
    return SimpleNamespace(
        kind=kind, ordinal=ordinal, question=question, answer=answer, citations=cited, ranks=ranks, **changes
    )


def stage(name: str, start_ms: float, duration_ms: float, **changes: Any) -> Row:
    """A stage of a run."""
    values: dict[str, Any] = {**dict.fromkeys(("batch", "step_ordinal", "rows", "note")), **changes}
    counts = ("calls", "reused_calls", "prompt_tokens", "completion_tokens", "reused_prompt_tokens", "model_ms")
    none = dict.fromkeys((*counts, "reused_completion_tokens"), 0)
    return SimpleNamespace(name=name, start_ms=start_ms, duration_ms=duration_ms, **{**none, **values})


def line(text: str, label: str | None = None, part: int = 1) -> Row:
    """A line of an explanation."""
    return SimpleNamespace(part=part, label=label, body=text, line=text)


def run_report(text: str = "") -> RunReport:
    """A run of clarify with two readings. The text is in each field that users or models may write."""
    first = passage(1, text=text, is_grounded=True)
    second = passage(2, text=text, is_grounded=True, origin="lexical", uri=f"javascript:alert(1){text}")
    third = passage(3, text=text, is_grounded=True, via_rank=1, reached_by="neighbor of #1", batch=2)
    dropped = passage(4, text=text, is_grounded=True, is_reused=True)
    abstained = passage(5, text=text, outcome="abstained", reason=f"the passage answers nothing{text}")
    failed = passage(6, text=text, outcome="failed", reason=f"the reply is no JSON{text}")
    unseen = passage(7, text=text, content=None, start_char=None, title=None, uri=None)
    findings = (
        finding(
            "reading", 1, f"How much?{text}", f"$45{text}", proof(first), proof(second, 2), support=2, cohesion=0.95,
            is_contested=False,
        ),
        finding(
            "reading", 2, f"Who pays?{text}", f"we{text}", proof(third, is_current=False), support=1, cohesion=1.0,
            is_contested=True, doubt=Refusal.BESIDE_THE_POINT,
        ),
    )  # fmt: skip
    stages = (
        stage("relaxation", 0, 210.0, calls=1, prompt_tokens=120, completion_tokens=14, note=f"car hire{text}"),
        stage("judgement", 211, 900.0, rows=7, calls=3, reused_calls=1, batch=1),
        stage("consolidation", 1130, 6.0, rows=2),
    )
    asked = head(
        question=f"rental cars{text}",
        corpus=f"insurance{text}",
        model=f"small{text}",
        requested_by=f"alice{text}",
        history=[text] if text else [],
        stop_reason=f"enough{text}",
    )
    passages = (first, second, third, dropped, abstained, failed, unseen)
    lines = (
        line(f'clarify: "rental cars{text}"'),
        line(f"reranker={text}", "Settings"),
        line("  ->  retrieval", None, 2),
    )
    return RunReport(asked, "reading", findings, passages, stages, lines, AT)


def evaluated(text: str = "", cases: int = 6) -> list[Member]:
    """Two evaluations of the same cases, the second with better answers."""
    members = []
    for number in (1, 2):
        done = {
            f"case {place}{text}": EvaluatedCase(
                eval_run_id=number,
                ordinal=place,
                case_id=f"case {place}{text}",
                question=f"what is fee {place}?{text}",
                gold={"interpretations": [], "answer_sets": [[["ninety dollars"]]], "wrong_answers": [text]},
                output={
                    "interpretations": [
                        {
                            "interpretation": f"What is the refueling fee?{text}",
                            "answer": f"ninety dollars{text}",
                            "is_grounded": place % 2 == 0,
                            "citations": [{"document_id": f"fees{text}", "title": None, "quote": f"{QUOTE}{text}"}],
                        }
                    ],
                    "questions": [],
                },
                run_id=place,
                status="failed" if place == cases else "succeeded",
                error=f"it broke{text}" if place == cases else None,
                figures={"coverage": place % 2 * number / 2, "readings": 1.0, "calls": 20.0 + place, "failed": 0.0},
                created_at=AT,
            )
            for place in range(1, cases + 1)
        }
        evaluation = Evaluation(
            number, f"night {number}{text}", f"questions{text}", bytes(32), 1, f"insurance{text}", "clarify",
            {"top_k": 20, "note": text}, {"model": f"small{text}", "judge": "lexical"}, cases, cases, None, "alice", AT,
            AT, is_own=True,
        )  # fmt: skip
        figures = summarize([one.figures for one in done.values()])
        members.append(Member(number, evaluation, done, figures))
    return members


@dataclass
class Page(HTMLParser):
    """A page, parsed as a browser does.

    Attributes:
        text: All of its text, without style and script.
        tags: Every tag with its attributes, in order.
        titled: For each svg, its title; None if its first child is none.
    """

    html: str
    text: str = ""
    tags: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    titled: list[str | None] = field(default_factory=list)
    parts: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__init__()
        self._inside = ""
        self._is_new_svg = False
        self.feed(self.html)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if self._is_new_svg:
            self._is_new_svg = False
            self.titled.append("" if tag == "title" else None)
            self._inside = "svg title" if tag == "title" else ""
        elif tag in ("style", "script"):
            self._inside = tag
        if tag == "svg":
            self._is_new_svg = True
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside in ("style", "script"):
            self.parts[self._inside] = data
            return
        if self._inside == "svg title":
            self.titled[-1] = (self.titled[-1] or "") + data
        self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of every tag of a name."""
        return [attributes for name, attributes in self.tags if name == tag]


# The tags that the templates use. Any other tag comes from hostile text.
TAGS = frozenset(
    {
        "a", "bdi", "blockquote", "body", "br", "button", "code", "dd", "details", "div", "dl",
        "dt", "footer", "h1", "h2", "h3", "head", "header", "html", "li", "main", "mark", "meta", "nav",
        "ol", "p", "pre", "q", "rect", "script", "section", "small", "span", "strong", "style", "summary",
        "svg", "table", "tbody", "td", "th", "thead", "title", "tr", "ul",
    }
)  # fmt: skip


def check_page(page: Page) -> None:
    """Check the rules that hold for each page."""
    assert {tag for tag, _ in page.tags} <= TAGS
    assert len(page.all("h1")) == len(page.all("script")) == len(page.all("style")) == 1
    attributes = [(name, value) for _, given in page.tags for name, value in given.items()]
    assert not [name for name, _ in attributes if name.startswith("on") or name in ("style", "src", "srcset", "action")]
    ids = [value for name, value in attributes if name == "id"]
    assert len(ids) == len(set(ids))
    links = [given["href"] or "" for given in page.all("a")]
    assert {link[1:] for link in links if link.startswith("#")} <= set(ids)
    assert all(link.startswith(("#", "https://", "http://")) for link in links)
    assert {value for name, value in attributes if name == "aria-labelledby"} <= set(ids)
    assert all(page.titled), "a chart has no title"
    assert len(page.titled) == len(page.all("svg"))
    # A caption inside the table would be cut off with it if the table is wider than the window.
    assert all(given.get("aria-labelledby") for given in page.all("table"))
    assert all(given.get("scope") in ("row", "col") for given in page.all("th"))
    assert not re.search("[\x00\x1b\u202e\ud800-\udfff]", page.html)
    (policy,) = [given["content"] or "" for given in page.all("meta") if given.get("http-equiv")]
    assert policy.startswith("default-src 'none';")
    for part in ("style", "script"):
        digest = base64.b64encode(hashlib.sha256(page.parts[part].encode()).digest()).decode()
        assert f"{part}-src 'sha256-{digest}'" in policy
