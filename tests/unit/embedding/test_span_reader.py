"""The reader of spans that comes with pgclarify: where it points, and how it batches."""

from __future__ import annotations

import asyncio
import re
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from pgclarify.embedding import LocalSpanReader, load_span_reader
from pgclarify.embedding.minilm import multiplies_int8
from pgclarify.embedding.packaged import PACKAGED, packaged_model
from pgclarify.embedding.span_reader import _best_span
from pgclarify.errors import EmbeddingError

PORT = "The server listens on port 5432. The office closes at six, and the last one locks the door."
FILLER = "Nothing of the kind is told in this part of the handbook, which goes on for a while about other matters. "


async def answer(reader: LocalSpanReader, question: str, passage: str, title: str = "") -> str:
    span = await reader.read(question, title, passage)
    assert span is not None
    return passage[span.start : span.end]


async def test_the_reader_points_at_the_answer(reader: LocalSpanReader) -> None:
    assert "5432" in await answer(reader, "Which port does the server listen on?", PORT)
    assert "six" in await answer(reader, "When does the office close?", PORT, "Office hours")


@pytest.mark.parametrize("before", [0, 12, 20, 45])
async def test_a_long_passage_is_read_to_its_end(reader: LocalSpanReader, before: int) -> None:
    passage = f"{FILLER * before}{PORT}{FILLER * (45 - before)}"
    assert "5432" in await answer(reader, "Which port does the server listen on?", passage)


async def test_other_texts_in_a_batch_do_not_change_a_span(reader: LocalSpanReader) -> None:
    question = "Which port does the server listen on?"
    alone = await reader.read(question, "", PORT)
    together = await asyncio.gather(*(reader.read(question, "", PORT + FILLER * number) for number in range(8)))
    assert alone is not None
    assert together[0] is not None
    assert (together[0].start, together[0].end) == (alone.start, alone.end)
    assert together[0].answerable == pytest.approx(alone.answerable, abs=1e-3)


@pytest.mark.parametrize("passage", ["", "  \n"])
async def test_where_there_is_no_text_there_is_no_span(reader: LocalSpanReader, passage: str) -> None:
    assert await reader.read("What?", "", passage) is None


async def test_text_that_is_no_unicode_keeps_its_offsets(reader: LocalSpanReader) -> None:
    assert "5432" in await answer(reader, "Which port does the server listen on?", f"\ud800 {PORT}", "\udfff")


@pytest.mark.parametrize(("begins", "ends"), [(40, 3), (5, 45)])
def test_an_answer_does_not_end_before_it_begins_nor_go_on_for_long(begins: int, ends: int) -> None:
    logits = np.zeros((50, 2), dtype=np.float32)
    logits[begins, 0] = logits[ends, 1] = 9.0
    probability, first, last = _best_span(logits)
    assert 0 <= last - first < 30
    assert probability < 0.0


async def test_a_span_from_numbers_that_are_none_is_an_error(
    reader: LocalSpanReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    await reader.read("What?", "", PORT)
    run = reader._spans._open().run

    class Broken:
        def run(self, *asked: object) -> list[NDArray[np.float32]]:
            return [np.full_like(output, np.nan) for output in run(*asked)]

    monkeypatch.setattr(reader._spans, "_session", Broken())
    with pytest.raises(EmbeddingError):
        await reader.read("What?", "", PORT)


@pytest.mark.skipif(not multiplies_int8(), reason="the processor has no VNNI")
async def test_8_bit_integers_point_at_the_same_answer_and_judge_alike() -> None:
    folder = packaged_model(PACKAGED)
    assert folder is not None
    question = "When does the office close?"
    places = [(0, 34), (35, len(PORT))]
    with closing(LocalSpanReader(folder)) as exact, closing(LocalSpanReader(folder, in_int8=True)) as rounded:
        assert await answer(rounded, question, PORT) == await answer(exact, question, PORT)
        probabilities = await rounded.judge(question, "", PORT, places)
        assert probabilities == pytest.approx(await exact.judge(question, "", PORT, places), abs=0.1)
        assert probabilities[0] < probabilities[1]


def mapped_word_vectors() -> int:
    """How often the vectors of words, which have 47 MB, are mapped into this process."""
    mapped = re.findall(r"^(\w+)-(\w+) .*/model\.safetensors$", Path("/proc/self/maps").read_text(), re.MULTILINE)
    return sum(int(end, 16) - int(start, 16) > 40_000_000 for start, end in mapped)


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
async def test_the_networks_have_the_vectors_of_words_in_memory_once() -> None:
    before = mapped_word_vectors()
    with closing(load_span_reader()) as reader:
        await reader.read("port", "", PORT)
        await reader.judge("port", "", PORT, [(0, len(PORT))])
        assert mapped_word_vectors() <= max(before, 1)
