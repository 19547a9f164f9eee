"""Cross-encoders by name, each loaded once, off the event loop; a few of them stay."""

from __future__ import annotations

from functools import partial

from pgclarify.config import Device
from pgclarify.embedding.cross_encoder import SentenceTransformerCrossEncoder
from pgclarify.embedding.registry import Registry

# Whoever may ask a question names them: he must not fill the memory of all workers.
_MOST_LOADED = 2
_MOST_LOADING = 2
# Beside those that stay. One more is refused and does not wait: two runs that have one each, and want another, would
# wait for each other.
_MOST_LEAVING = 4
# Long enough for whoever asks again and again, short enough for whoever has just put the model there.
_RETRY_AFTER = 300.0


class CrossEncoders(Registry[SentenceTransformerCrossEncoder]):
    """The cross-encoders of a process: one that ranks passages and one that tells entailment, as a rule.

    Args:
        most_loaded: How many stay when nobody uses them, those that were asked for last.
        most_leaving: With how many beside those in use, no further one is loaded.
        device: What they compute on.
    """

    def __init__(
        self,
        *,
        most_loaded: int = _MOST_LOADED,
        most_leaving: int = _MOST_LEAVING,
        device: Device = Device.AUTO,
    ) -> None:
        super().__init__(
            partial(SentenceTransformerCrossEncoder, device=device),
            most_loaded=most_loaded,
            most_loading=_MOST_LOADING,
            most_leaving=most_leaving,
            retry_after=_RETRY_AFTER,
        )
