"""Several passages a call: what verdicts on 1, 2, 4 or 8 passages at once find, and what they cost.

python -m benchmarks.quality.passages_a_call DATA_DIR FOLDER [--model NAME --endpoint URL ... [--questions N N]]
[--sizes 1 2 4 8 0] [--top-k 8] asks a model about the passages of a hybrid search for held questions of RAMDocs and
squad2.ambiguous. FOLDER keeps the passages and the model's replies, so that an interrupted run continues. Without
--endpoint, the replies are evaluated.

One passage a call is the product's prompt. Several share the prompt of benchmarks/prompts/verdicts.py, which asks for
one verdict on each: the product asks otherwise by now (pgclarify/prompts/joint_verdicts.py), and the figures of this
prompt are those of a small model. A verdict counts only if its number is that of the passage and its quote stands in
that passage.
"All at once" is the prompt of the baseline `rac`: it gives readings with the passages that they cite, but no quotes.

Verdicts go through the product's checks and consolidation. Coverage is the share of a question's known answers that the
readings shown have, precision the share of readings shown that have a known answer. A question is misled if a known
wrong answer is shown and not contested. Of the readings in replies, "mixed up" are those whose quote stands only in
another passage of the call, or that have the number of another one. The rival is a smaller top_k with one passage a
call. Intervals are 95 % intervals of a bootstrap over questions, those of differences in pairs. Seconds are those of
one core, from the tokens and two rates that were measured, because the machine also does other work.

The second table has the verdicts on one passage a call: with the product's checks, without them, with them for
verbatim quotes alone, and with them and the trained reader. "Supported" is what the lexical judge of evaluations calls
so. "Same words" are readings whose words another reading of the question has.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Final, NoReturn

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from benchmarks import product
from benchmarks.data_sets import MODEL, part_of, read
from benchmarks.figures import mean_of, show_tables, step
from benchmarks.prompts.verdicts import Said, verdicts
from benchmarks.quality import kept
from benchmarks.quality.judged import share_interval
from benchmarks.quality.kept_replies import KeptReplies
from pgclarify.algorithms.metrics import cover_exact_match, covered_answers, paired_bootstrap
from pgclarify.data.candidates import Candidate
from pgclarify.data.documents import Passage
from pgclarify.data.model_calls import Completion, CompletionRequest, ModelCall
from pgclarify.data.runs import Run, Tally
from pgclarify.data.verdicts import Reading
from pgclarify.data.vocabulary import StopCode
from pgclarify.database.exploration import ExplorationTables
from pgclarify.database.pool import open_pool
from pgclarify.database.presence import Presence
from pgclarify.database.runs import Runs
from pgclarify.embedding import load_embedder, load_span_reader
from pgclarify.embedding.registry import Embedders
from pgclarify.evaluation.lexical_judge import LexicalJudge
from pgclarify.evaluation.records import Stated
from pgclarify.language.quotes import find_quote
from pgclarify.language.words import asks_same_words
from pgclarify.ledger.completions import CallResult
from pgclarify.operations.clarification.interpretations import Grounded, interpret, vectors_of
from pgclarify.operations.judging.confirmation import Confirmation, ReaderConfirmation, given_answer
from pgclarify.operations.judging.verdicts import Supported, check_verdict, grounded_verdict
from pgclarify.prompts.baselines import ReadFromPassages, disambiguation
from pgclarify.prompts.verdict import verdict
from pgclarify.protocols import Embedder, Sending, SpanReader
from pgclarify.providers.client import Address
from pgclarify.providers.endpoint import Endpoint

_FILES: Final = {"ramdocs": "ramdocs.questions", "squad2": "squad2.ambiguous"}
# Passages a call; 0 is all at once.
_SIZES: Final = (1, 2, 4, 8, 0)
# Calls of a small local model are slow.
_TIMEOUT: Final = 900.0
# Tokens a second that one core of the machine reads and writes, with a model of 1.5 billion parameters (Q4_K_M).
_READ: Final = 80
_WRITTEN: Final = 6.7

_VERBATIM: Final = "checks, verbatim quotes"
_READER: Final = "reader"
_VERIFIED: Final = ("checks", "none", _VERBATIM, _READER)


@dataclass(frozen=True)
class Asked:
    """A question, and the passages that a search found for it.

    Attributes:
        data_set: ramdocs or squad2.
        question: The question.
        golds: The known answers.
        wrong: Answers that documents give and that are known to be wrong.
        passages: Best first.
    """

    data_set: str
    question: str
    golds: tuple[str, ...]
    wrong: tuple[str, ...]
    passages: tuple[Passage, ...]


def calls(asked: Asked, size: int) -> list[ModelCall[list[Said]]]:
    """The calls about the passages of a question, so many passages in each."""
    if size == 1:
        return [verdict(asked.question, passage).then(lambda said: [said]) for passage in asked.passages]
    chunks = [asked.passages[start : start + size] for start in range(0, len(asked.passages), size)]
    return [verdicts(asked.question, chunk) for chunk in chunks]


def at_once(asked: Asked) -> ModelCall[list[ReadFromPassages]]:
    """The call for all readings in all passages."""
    return disambiguation(asked.question, asked.passages)


async def _ask(
    asked: Sequence[Asked], sizes: Sequence[int], model: str, addresses: Sequence[str], replies: Path
) -> None:
    waiting = iter([(one, size) for size in sizes for one in asked])

    async def serve(address: str) -> None:
        # One call at a time, so that the server has the start of the prompt from the call before.
        async with Endpoint(Address(address), model, concurrency=1, timeout=_TIMEOUT) as endpoint:
            completer = KeptReplies(endpoint, replies)
            for one, size in waiting:
                with step(f"{one.data_set}, {size} a call: {one.question}"):
                    for call in calls(one, size) if size else [at_once(one)]:
                        await completer.ask(call)

    await asyncio.gather(*map(serve, addresses))


@dataclass(frozen=True)
class Shown:
    """A reading that a user sees, with the passage of its first citation; None if it cites nothing."""

    interpretation: str
    answer: str
    is_contested: bool
    passage: Passage | None


@dataclass(frozen=True)
class Outcome:
    """What one way shows for a question, and what it costs.

    Attributes:
        asked: The question.
        shown: The readings.
        readings: How many readings the replies have, before any check.
        mixed_up: How many of them belong to another passage of the call.
        replies: All replies, including those that could not be read.
    """

    asked: Asked
    shown: Sequence[Shown]
    readings: int
    mixed_up: int
    replies: Sequence[Completion]

    @property
    def covered(self) -> int:
        """How many known answers are shown."""
        return sum(covered_answers([[one] for one in self.asked.golds], [one.answer for one in self.shown]))

    @property
    def coverage(self) -> float:
        """The share of the known answers that are shown."""
        return self.covered / len(self.asked.golds)

    @property
    def right(self) -> int:
        """How many readings have a known answer."""
        return sum(cover_exact_match(one.answer, self.asked.golds) for one in self.shown)

    def is_misled(self, *, contested: bool = False) -> bool:
        """Whether a known wrong answer is shown that is not contested; or one that is."""
        wrong = [one for one in self.shown if self.asked.wrong and cover_exact_match(one.answer, self.asked.wrong)]
        return any(one.is_contested is contested for one in wrong)

    @property
    def same_words(self) -> list[Shown]:
        """The readings whose words another reading has."""
        return [
            one
            for one in self.shown
            if any(
                asks_same_words(one.interpretation, other.interpretation) for other in self.shown if other is not one
            )
        ]


def _shares_words(one: Shown | ReadFromPassages, others: Sequence[Shown | ReadFromPassages]) -> bool:
    return any(asks_same_words(one.interpretation, other.interpretation) for other in others if other is not one)


class _Kept(Endpoint):
    """Has only the replies that are kept."""

    async def complete(self, request: CompletionRequest, sending: Sending | None = None) -> NoReturn:
        raise LookupError(request.purpose)


async def _outcome(
    asked: Asked,
    size: int,
    kept_replies: KeptReplies,
    embedder: Embedder,
    *,
    top_k: int,
    verify: str,
    reader: SpanReader | None = None,
) -> Outcome:
    """Evaluate one way; verify: an option of clarify, or one of _VERIFIED.

    Raises:
        LookupError: If its replies are not kept.
    """
    if size == 0:
        found, replies = await kept_replies.ask(at_once(asked))
        return Outcome(asked, _at_once(asked, found or []), len(found or []), 0, replies)
    said: list[tuple[Passage, Reading | StopCode]] = []
    replies, readings, mixed_up = [], 0, 0
    for place, call in enumerate(calls(asked, size)[: -(-top_k // size)]):
        chunk = asked.passages[place * size : (place + 1) * size]
        judged, made = await kept_replies.ask(call)
        replies += made
        for passage, one in zip(chunk, judged or [], strict=bool(judged)):
            if one is None:
                readings, mixed_up = readings + 1, mixed_up + 1
                continue
            if isinstance(one, Reading):
                readings += 1
                if find_quote(one.quote, passage.content) is None:
                    mixed_up += any(find_quote(one.quote, other.content) for other in chunk)
                    if verify == _VERBATIM:
                        continue
            said.append((passage, one))
    confirmation = None if reader is None else ReaderConfirmation(asked.question, reader)
    shown = await _consolidated(asked, said, embedder, verify, confirmation)
    return Outcome(asked, shown, readings, mixed_up, replies)


async def _is_confirmed(confirmation: Confirmation, supported: Supported) -> bool:
    reading = supported.reading
    passage = supported.candidate.passage
    given = given_answer(passage, reading.interpretation, reading.answer, supported.quoted)
    (is_confirmed,) = await confirmation.ask([given], tally=Tally())
    return is_confirmed is True


async def _consolidated(
    asked: Asked,
    said: Sequence[tuple[Passage, Reading | StopCode]],
    embedder: Embedder,
    verify: str,
    confirmation: Confirmation | None,
) -> list[Shown]:
    run = Run(1, 1, "clarify", asked.question, {"verify": verify}, None, None, None)
    ranks = {passage.document_id: rank for rank, passage in enumerate(asked.passages, start=1)}
    grounded = []
    for passage, one in said:
        candidate = Candidate(ranks[passage.document_id], passage, 0.0, "dense")
        checked = check_verdict(run, candidate, CallResult(one, None, False))
        if isinstance(checked, Supported) and (confirmation is None or await _is_confirmed(confirmation, checked)):
            grounded.append((passage, await grounded_verdict(checked, embedder)))
    found = await interpret(run, [Grounded.of(*pair) for pair in grounded], vectors_of(grounded))
    return [
        Shown(one.interpretation, one.answer, one.is_contested, asked.passages[one.citations[0].candidate_rank - 1])
        for one in found
        if one.is_shown
    ]


def _at_once(asked: Asked, found: Sequence[ReadFromPassages]) -> list[Shown]:
    return [
        Shown(
            one.interpretation,
            one.answer,
            _shares_words(one, found),
            asked.passages[one.passages[0]] if one.passages else None,
        )
        for one in found
    ]


def _ratio(samples: NDArray[np.float64]) -> NDArray[np.float64]:
    sums = samples.sum(axis=-2)
    return np.asarray(sums[..., 0] / np.maximum(sums[..., 1], 1))


def _share(parts: Sequence[int], wholes: Sequence[int]) -> str:
    if not sum(wholes):
        return "none"
    low, high = share_interval(parts, wholes)
    return f"{sum(parts) / sum(wholes):.2f} ({low:.2f} to {high:.2f}), {sum(parts)}/{sum(wholes)}"


def _costs(outcomes: Sequence[Outcome]) -> list[str]:
    replies = [one for outcome in outcomes for one in outcome.replies]
    prompt = sum(one.prompt_tokens or 0 for one in replies)
    cached = sum(one.cached_tokens or 0 for one in replies)
    completion = sum(one.completion_tokens or 0 for one in replies)
    count = len(outcomes)
    return [
        f"{prompt / count:.0f}",
        f"{cached / count:.0f}",
        f"{completion / count:.0f}",
        f"{((prompt - cached) / _READ + completion / _WRITTEN) / count:.0f}",
        f"{len(replies) / count:.1f}",
    ]


def curve(title: str, ways: Mapping[str, Mapping[str, Outcome]]) -> Table:
    """What each way finds and costs, on the questions that it has. Differences are to the first way, on the same ones.

    Args:
        title: Of the table.
        ways: The outcomes of each way, by question.
    """
    headers = ["way", "questions", "coverage", "coverage, difference", "precision", "precision, difference"]
    headers += ["misled", "mixed up", "prompt tokens", "of them cached", "reply tokens", "seconds", "calls"]
    table = Table(*headers, title=title)
    (first, *_) = ways.values()
    for way, found in ways.items():
        both = [one for one in first if one in found]
        outcomes, others = [found[one] for one in both], [first[one] for one in both]
        pairs = [(one.right, len(one.shown)) for one in outcomes]
        table.add_row(
            way,
            str(len(outcomes)),
            mean_of([one.coverage for one in outcomes]),
            *([""] if found is first else [_difference(others, outcomes)]),
            _share(*zip(*pairs, strict=True)),
            *([""] if found is first else [_difference(others, outcomes, of_precision=True)]),
            _misled(outcomes),
            f"{sum(one.mixed_up for one in outcomes)} of {sum(one.readings for one in outcomes)}",
            *_costs(outcomes),
        )
    return table


def _difference(first: Sequence[Outcome], second: Sequence[Outcome], *, of_precision: bool = False) -> str:
    if not of_precision:
        return mean_of([other.coverage - one.coverage for one, other in zip(first, second, strict=True)], "+.2f")
    return _ratio_difference(*([(one.right, len(one.shown)) for one in side] for side in (first, second)))


def _ratio_difference(first: Sequence[tuple[int, int]], second: Sequence[tuple[int, int]]) -> str:
    before, after = np.array(first, dtype=np.float64), np.array(second, dtype=np.float64)
    drawn = paired_bootstrap(before, after, _ratio)
    difference = float(_ratio(after) - _ratio(before))
    return f"{difference:+.2f} ({drawn.low:+.2f} to {drawn.high:+.2f})"


def _misled(outcomes: Sequence[Outcome], *, contested: bool = False) -> str:
    told = [one.is_misled(contested=contested) for one in outcomes if one.asked.wrong]
    return f"{sum(told)} of {len(told)}" if told else ""


async def checks(title: str, ways: Mapping[str, Sequence[Outcome]], reader: SpanReader) -> Table:
    """What the checks keep and lose. Differences are to the first way."""
    headers = ["verify", "coverage", "coverage, difference", "precision", "precision, difference"]
    headers += ["supported", "supported, difference", "misled", "contested", "readings", "same words"]
    table = Table(*headers, title=title)
    (first, *_) = ways.values()
    first_supported: list[tuple[int, int]] = []
    for way, outcomes in ways.items():
        claims = [
            (Stated(one.interpretation, (one.answer,)), [one.passage] if one.passage else outcome.asked.passages)
            for outcome in outcomes
            for one in outcome.shown
        ]
        judged = iter(await LexicalJudge(reader).supports(claims))
        sizes = [len(one.shown) for one in outcomes]
        supported = [(sum(next(judged) for _ in one.shown), len(one.shown)) for one in outcomes]
        first_supported = first_supported or supported
        is_first = outcomes is first
        table.add_row(
            way,
            mean_of([one.coverage for one in outcomes]),
            "" if is_first else _difference(first, outcomes),
            _share([one.right for one in outcomes], sizes),
            "" if is_first else _difference(first, outcomes, of_precision=True),
            _share(*zip(*supported, strict=True)),
            "" if is_first else _ratio_difference(first_supported, supported),
            _misled(outcomes),
            _misled(outcomes, contested=True),
            f"{fmean(sizes):.1f}",
            _share([len(one.same_words) for one in outcomes], sizes),
        )
    return table


async def _evaluate(asked: Sequence[Asked], model: str, replies: Path, top_k: int) -> list[Table]:
    tables = []
    async with _Kept(Address("http://127.0.0.1:9/v1"), model) as endpoint:
        kept_replies = KeptReplies(endpoint, replies)
        with closing(Embedders()) as embedders, closing(load_span_reader()) as reader:
            embedder = await embedders.get_for_readings(MODEL)

            async def collect(
                some: Sequence[Asked], size: int, depth: int = top_k, verify: str = "checks"
            ) -> dict[str, Outcome]:
                """The outcomes of the questions whose replies are all kept."""
                found = {}
                for one in some:
                    with suppress(LookupError):
                        found[one.question] = await _outcome(
                            one,
                            size,
                            kept_replies,
                            embedder,
                            top_k=depth,
                            verify=verify,
                            reader=reader if verify == _READER else None,
                        )
                return found

            for data_set in _FILES:
                some = [one for one in asked if one.data_set == data_set]
                ways = {f"{size} a call" if size else "all at once": await collect(some, size) for size in _SIZES}
                ways |= {f"1 a call, top_k {depth}": await collect(some, 1, depth) for depth in (2, 4, 6)}
                first = ways["1 a call"]
                ways = {name: found for name, found in ways.items() if first.keys() & found.keys()}
                if not first:
                    continue
                tables.append(curve(f"{data_set}, held questions, top_k {top_k}", ways))
                verified = {one: list((await collect(some, 1, verify=one)).values()) for one in _VERIFIED}
                title = f"{data_set}: {len(first)} held questions, one passage a call"
                tables.append(await checks(title, verified, reader))
                for outcome in first.values():
                    for one in outcome.same_words:
                        print(f"{data_set}: {outcome.asked.question} | {one.interpretation} | {one.answer}")
    return tables


def _rows(data_dir: Path, data_set: str, count: int) -> list[Mapping[str, Any]]:
    rows: Iterable[Mapping[str, Any]] = read(data_dir / f"{_FILES[data_set]}.jsonl.gz")
    return [row for row in rows if part_of(row["gold"][0] if "gold" in row else row["id"]) == "held"][:count]


def _passages(data_dir: Path, data_set: str) -> dict[str, Passage]:
    return {
        row["id"]: Passage(row["id"], 1, " ".join(row["text"].split()), title=row["title"] or None)
        for row in read(data_dir / f"{data_set}.corpus.jsonl.gz")
    }


async def _search(dsn: str, questions: Sequence[tuple[str, str]], top_k: int, file: Path) -> None:
    """Search for each question of a data set, and write the ids of the documents that are found."""
    entry: dict[str, Any] = {"provider": "none", "model": "none", "prompt_version": ""}
    with closing(load_embedder(MODEL)) as embedder, file.open("w", encoding="utf-8") as stream:
        async with open_pool(dsn) as pool, Presence.enter(dsn, version="", **entry) as presence:
            runs = Runs(pool, presence.worker_id)
            for data_set, text in questions:
                with product.connect(dsn) as connection:
                    (row,) = connection.execute(
                        "select pgclarify.submit_many('clarify', %s, %s) as ids", [[text], data_set]
                    ).fetchall()
                run = await runs.start(row["ids"][0])
                assert isinstance(run, Run)
                (vector,) = await embedder.encode([text])
                found = await ExplorationTables(runs).find_passages(run, text, vector, method="hybrid", depth=top_k)
                ids = [one.passage.document_id for one in found]
                stream.write(json.dumps({"data_set": data_set, "question": text, "document_ids": ids}) + "\n")


def load(data_dir: Path, file: Path, counts: Mapping[str, int], top_k: int) -> list[Asked]:
    """The questions with their passages. The searches of an earlier run are in the file."""
    rows = {name: _rows(data_dir, name, count) for name, count in counts.items()}
    if not file.exists():
        with kept.database(None) as (dsn, _):
            for name in rows:
                kept.load(dsn, name, data_dir / f"{name}.corpus.jsonl.gz")
            questions = [(name, row["question"]) for name, some in rows.items() for row in some]
            asyncio.run(_search(dsn, questions, top_k, file))
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    found = {(line["data_set"], line["question"]): line["document_ids"][:top_k] for line in lines}
    texts = {name: _passages(data_dir, name) for name in rows}
    return [
        Asked(
            name,
            row["question"],
            tuple(row["answers"] if "answers" in row else [row["answer"]]),
            tuple(row.get("wrong_answers", ())),
            tuple(texts[name][one] for one in found[name, row["question"]]),
        )
        for name, some in rows.items()
        for row in some
    ]


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("folder", type=Path, help="where passages and replies stay")
    parser.add_argument("--endpoint", nargs="+", default=[], metavar="URL", help="servers of the same model")
    parser.add_argument("--model", default="model", help="its name")
    parser.add_argument("--questions", type=int, nargs=2, default=[24, 24], help="of RAMDocs, and of squad2.ambiguous")
    parser.add_argument("--sizes", type=int, nargs="+", default=_SIZES, help="passages a call; 0 is all at once")
    parser.add_argument("--top-k", type=int, default=8, help="how many passages of each question")
    options = parser.parse_args()
    counts = dict(zip(_FILES, options.questions, strict=True))
    asked = load(options.data_dir, options.folder / "searched.jsonl", counts, options.top_k)
    replies = options.folder / "replies.jsonl"
    if options.endpoint:
        asyncio.run(_ask(asked, options.sizes, options.model, options.endpoint, replies))
        return
    tables = asyncio.run(_evaluate(asked, options.model, replies, options.top_k))
    show_tables(*tables, width=220, prompts=("verdict", "verdicts", "baseline_disambiguation"))


if __name__ == "__main__":
    _main()
