"""Shows the dashboard of a made-up year: `make dashboards`."""

from __future__ import annotations

import signal
import sys
from contextlib import suppress

from dashboards import year
from dashboards.starting import PYTHON, started


def main() -> None:
    """Start everything, say where it is, and wait for Ctrl+C."""
    if not PYTHON.exists():
        sys.exit("Superset is not installed. Run: make dashboards")
    print("Making a year of searches, and a Superset for it. This takes about two minutes.", flush=True)
    with suppress(KeyboardInterrupt), started(year.read_searches()) as running:
        print(
            f"\n{running.url}\n  user      admin\n  password  {running.password}\n\nCtrl+C stops and removes it all.",
            flush=True,
        )
        signal.pause()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    main()
