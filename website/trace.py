"""Draws the trace of one `clarify`, for the page about traces: `python -m website.trace`.

It loads the demo's documents into a new server, asks through the Python client, and draws the spans that a collector on
this machine gets from the worker. The model is that of the tests, which answers by rules after 200 ms. A run before has
asked for the first passages, so that their replies are reused.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

import pgclarify
from benchmarks import product
from tests import openai_server
from tests.collector import CollectedSpan, Collector, collect

CHECKOUT = Path(__file__).parents[1]
PICTURE = CHECKOUT / "docs" / "trace.svg"
DOCUMENTS = CHECKOUT / "pgclarify" / "demo_corpus"
CORPUS, QUESTION, TOP_K, REUSED = "insurance", "rental cars", 8, 3
WIDTH, LEFT, ROW, HEAD, MARGIN = 944, 250, 24, 44, 16
TEXT, MUTED, GRID = "#1f2933", "#5b6770", "#e3e8ec"
FILLS = {"INTERNAL": "#7fa8c4", "CLIENT": "#c2553d", "CONSUMER": "#2f6f9f"}


def main() -> None:
    """Ask, and draw the spans."""
    with collect() as collector:
        ask(collector)
        PICTURE.write_text(drawn(list(in_order(collector))), encoding="utf-8")


def ask(collector: Collector) -> None:
    """Ask twice; the second time in a span of the application, which is exported, too."""
    application = TracerProvider()
    application.add_span_processor(
        BatchSpanProcessor(OTLPSpanExporter(collector.variables["OTEL_EXPORTER_OTLP_ENDPOINT"] + "/v1/traces"))
    )
    with (
        product.database() as dsn,
        openai_server.spawn(latency=0.2) as endpoint,
        product.worker(dsn, endpoint, concurrency=4, variables=collector.variables),
        pgclarify.connect(dsn, corpus=CORPUS) as client,
    ):
        load = [sys.executable, "-m", "pgclarify.cli", "load", CORPUS, str(DOCUMENTS)]
        subprocess.run(load, check=True, env=os.environ | {"PGCLARIFY_DATABASE_URL": dsn})  # noqa: S603
        client.clarify(QUESTION, top_k=REUSED)
        with application.get_tracer("application").start_as_current_span("GET /help"):
            client.clarify(QUESTION, top_k=TOP_K)
    application.shutdown()


def in_order(collector: Collector) -> Iterator[tuple[int, CollectedSpan]]:
    """The spans of the application's trace, each after its parent, with their depth."""

    def below(span: CollectedSpan, depth: int) -> Iterator[tuple[int, CollectedSpan]]:
        yield depth, span
        for part in collector.within(span):
            yield from below(part, depth + 1)

    (request,) = collector.named("GET /help")
    return below(request, 0)


def drawn(spans: list[tuple[int, CollectedSpan]]) -> str:
    """The picture as SVG, on a ground of its own, so that it can be read in both color schemes."""
    start, end = spans[0][1].start, max(span.end for _, span in spans)
    scale = (WIDTH - LEFT - 2 * MARGIN) / (end - start)
    height = HEAD + ROW * len(spans) + MARGIN

    def x(moment: int) -> float:
        return MARGIN + LEFT + (moment - start) * scale

    lines = []
    milliseconds = (end - start) // 1_000_000
    step = next(step for step in (100, 200, 500, 1000, 10_000) if milliseconds <= 8 * step)
    for tick in range(0, milliseconds + 1, step):
        at = x(start + tick * 1_000_000)
        lines.append(f'<line x1="{at:.1f}" y1="{HEAD - 8}" x2="{at:.1f}" y2="{height - MARGIN}" stroke="{GRID}"/>')
        lines.append(text(at, HEAD - 14, f"{tick} ms", MUTED, "middle"))
    for place, (depth, span) in enumerate(spans):
        top = HEAD + ROW * place
        lines.append(text(MARGIN + 14 * depth, top + 16, span.name, TEXT))
        width = max((span.end - span.start) * scale, 1.5)
        lines.append(
            f'<rect x="{x(span.start):.1f}" y="{top + 4}" width="{width:.1f}" height="{ROW - 8}" rx="2"'
            f' fill="{FILLS[span.kind]}"/>'
        )
        if note := note_of(span):
            # Beside the bar, on the side that has room.
            is_late = x(span.end) > WIDTH - 260
            at = x(span.start) - 6 if is_late else x(span.end) + 6
            lines.append(text(at, top + 16, note, MUTED, "end" if is_late else "start"))
    body = "\n".join(lines)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="system-ui, sans-serif"'
        f' font-size="12">\n<rect width="{WIDTH}" height="{height}" rx="6" fill="#f4f6f8"/>\n{body}\n</svg>\n'
    )


def text(x: float, y: float, said: str, fill: str, anchor: str = "start") -> str:
    """A line of text."""
    return f'<text x="{x:.1f}" y="{y}" fill="{fill}" text-anchor="{anchor}">{escape(said)}</text>'


def note_of(span: CollectedSpan) -> str:
    """The facts of a span that the picture shows."""
    facts = span.attributes
    if span.kind == "CLIENT":
        tokens = f"{facts['gen_ai.usage.input_tokens']} + {facts['gen_ai.usage.output_tokens']} tokens"
        return f"{facts['pgclarify.purpose']}, {tokens}"
    if span.kind == "CONSUMER":
        return str(facts["pgclarify.status"])
    reused = span.events.get("replies reused")
    return "" if reused is None else f"replies reused: {reused['pgclarify.replies']}"


if __name__ == "__main__":
    main()
