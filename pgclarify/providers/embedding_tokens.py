"""Token counts of texts for an endpoint: our estimate before they are sent, and the endpoint's count afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import accumulate, pairwise
from typing import Final

from tokenizers import Regex, Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split

# The endpoint does not say which tokenizer its model has. Every model in common use accepts this many tokens by its own
# count. Our count is higher, so texts of this length always fit.
MAX_TOKENS: Final = 256
_COUNTED: Final = r"[A-Za-z]{1,4}|[0-9]{1,2}|\s{4}|\S"
# Most languages and tokenizers have fewer tokens per byte, so a budget that reserves this many is safe.
_BYTES_PER_TOKEN: Final = 2


@cache
def tokenizer() -> Tokenizer:
    """Return a tokenizer that counts more tokens than models do."""
    counting = Tokenizer(WordLevel({"[UNK]": 0}, unk_token="[UNK]"))  # noqa: S106 - no password
    counting.pre_tokenizer = Split(Regex(_COUNTED), behavior="removed", invert=True)
    return counting


def cut_to_size(texts: Sequence[str]) -> list[str]:
    """Cut texts to MAX_TOKENS tokens."""
    # A token has at most four characters, with at most three blanks before it.
    starts = [text[: 7 * MAX_TOKENS] for text in texts]
    return [
        start if len(encoding) <= MAX_TOKENS else start[: encoding.offsets[MAX_TOKENS - 1][1]]
        for start, encoding in zip(starts, tokenizer().encode_batch(starts), strict=True)
    ]


def shared_tokens(texts: Sequence[str], together: int | None) -> list[int]:
    """Divide the tokens of a request among its texts, in proportion to their bytes.

    Args:
        texts: At least one.
        together: Tokens of all texts. None if the server did not say; then half a token is counted for each byte.
    """
    sizes = [len(text.encode()) for text in texts]
    if together is None:
        return [-(-size // _BYTES_PER_TOKEN) for size in sizes]
    # Differences of rounded sums, so that the parts add up to the total.
    ends = [0, *(together * size // max(1, sum(sizes)) for size in accumulate(sizes))]
    return [end - start for start, end in pairwise(ends)]
