"""N-grams of words and of letters, hashed into a table."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from typing import Final

from pgclarify.algorithms.ambiguity.wording import Wording
from pgclarify.language.words import WORD

# Size of the table. Two n-grams with one hash count as one; at this size that happens to about one in ten of a
# question.
BUCKETS: Final = 1 << 13
_TOKEN: Final = re.compile(rf"{WORD.pattern}|[?!,.:;\"]")
_MOST_WORDS: Final = 3
_LETTERS: Final = range(3, 6)


def places(wording: Wording) -> list[int]:
    """List the places of a question's n-grams in the table, each once, in [0, BUCKETS).

    N-grams are up to three words and marks in a row. A question alone also has three to five letters in a row within a
    word. A question with history also has the words of the last answer, and up to two words in a row of the last
    question. With history, letters are left out, because they would outweigh the rest.
    """
    found = set()
    for piece in _pieces(wording):
        number = zlib.crc32(piece.encode())
        found.add(number % BUCKETS)
    return sorted(found)


def _pieces(wording: Wording) -> Iterator[str]:
    tokens = [token.lower() for token in _TOKEN.findall(wording.question)]
    yield from _rows(["<", *tokens, ">"], _MOST_WORDS, "")
    if wording.recent:
        yield from _rows(["<", *wording.last_answer, ">"], 1, "answer:")
        yield from _rows(["<", *wording.last_question, ">"], 2, "before:")
        return
    for token in set(tokens):
        word = f" {token} "
        for length in _LETTERS:
            for start in range(len(word) - length + 1):
                end = start + length
                yield f"letters:{word[start:end]}"


def _rows(words: Sequence[str], most: int, prefix: str) -> Iterator[str]:
    for length in range(1, most + 1):
        for start in range(len(words) - length + 1):
            end = start + length
            yield prefix + " ".join(words[start:end])
