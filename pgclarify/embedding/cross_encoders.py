"""Cross-encoders by name. Each is loaded once, outside the event loop; a few are kept."""

from __future__ import annotations

from functools import partial

from pgclarify.config import Device
from pgclarify.embedding.cross_encoder import SentenceTransformerCrossEncoder
from pgclarify.embedding.registry import Registry

# Any user who may ask a question can name models, and must not be able to fill the memory of all workers.
_MOST_LOADED = 2
_MOST_LOADING = 2
# How many models may be in use besides the kept ones. A further model is refused and does not wait. Otherwise two runs
# that each use one model and want another would wait for each other.
_MOST_LEAVING = 4
# Long enough for callers that retry all the time, short enough for a user who has just installed the model.
_RETRY_AFTER = 300.0


class CrossEncoders(Registry[SentenceTransformerCrossEncoder]):
    """The cross-encoders of a process: usually one that ranks passages and one that tells entailment.

    Args:
        device: Their device.
    """

    def __init__(self, device: Device = Device.AUTO) -> None:
        super().__init__(
            partial(SentenceTransformerCrossEncoder, device=device),
            most_loaded=_MOST_LOADED,
            most_loading=_MOST_LOADING,
            most_leaving=_MOST_LEAVING,
            retry_after=_RETRY_AFTER,
        )
