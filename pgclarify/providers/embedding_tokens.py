"""How many tokens texts have for an endpoint: by a count of our own before they are sent, and by its own afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import accumulate, pairwise
from typing import Final

from tokenizers import Regex, Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split

# Nobody tells which tokenizer such a model has. Every model in common use reads so many tokens, by its own count and so
# by this one, which is higher.
MAX_TOKENS: Final = 256
_COUNTED: Final = r"[A-Za-z]{1,4}|[0-9]{1,2}|\s{4}|\S"
# Few languages and tokenizers have more tokens, so that a budget reckons with no fewer.
_BYTES_PER_TOKEN: Final = 2


@cache
def tokenizer() -> Tokenizer:
    """Count more tokens than models do."""
    counting = Tokenizer(WordLevel({"[UNK]": 0}, unk_token="[UNK]"))  # noqa: S106 - no password
    counting.pre_tokenizer = Split(Regex(_COUNTED), behavior="removed", invert=True)
    return counting


def cut_to_size(texts: Sequence[str]) -> list[str]:
    """Cut texts to MAX_TOKENS tokens."""
    # A token has at most four characters, and at most three blanks before it.
    starts = [text[: 7 * MAX_TOKENS] for text in texts]
    return [
        start if len(encoding) <= MAX_TOKENS else start[: encoding.offsets[MAX_TOKENS - 1][1]]
        for start, encoding in zip(starts, tokenizer().encode_batch(starts), strict=True)
    ]


def shared_tokens(texts: Sequence[str], together: int | None) -> list[int]:
    """How many tokens each text of a request has, by its share of the bytes.

    Args:
        texts: At least one.
        together: How many all of them have; None if the server did not say: then half a token for each byte.
    """
    sizes = [len(text.encode()) for text in texts]
    if together is None:
        return [-(-size // _BYTES_PER_TOKEN) for size in sizes]
    # Differences of rounded sums, so that none is lost.
    ends = [0, *(together * size // max(1, sum(sizes)) for size in accumulate(sizes))]
    return [end - start for start, end in pairwise(ends)]
