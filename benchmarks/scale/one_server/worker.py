"""A worker with a made-up embedding model: python -m benchmarks.scale.one_server.worker [--no-graph].

With --no-graph it makes documents searchable but does not link passages, so that each cost is measured alone.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

from benchmarks.scale.one_server.world import MadeUpEmbedder
from pgclarify.cli.main import main
from pgclarify.embedding import registry
from pgclarify.worker import serving


def _load(*_: Any, **__: Any) -> MadeUpEmbedder:
    return MadeUpEmbedder()


async def _link_nothing(*_: Any) -> None:
    return None


if __name__ == "__main__":
    with patch.object(registry, "load_embedder", _load), ExitStack() as stack:
        if "--no-graph" in sys.argv:
            stack.enter_context(patch.object(serving, "link", _link_nothing))
        sys.argv = ["pgclarify", "worker"]
        main()
