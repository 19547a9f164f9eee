"""The client of the commands: that of applications, and what only commands ask."""

from __future__ import annotations

from pgclarify.cli import mirroring, state
from pgclarify.client import Client
from pgclarify.client.blocking import iterating_method, method


class CommandClient(Client):
    """The client of applications, and what only commands ask. Applications read that from views."""

    check_load = method(mirroring.check_load)
    loaded_from = iterating_method(mirroring.loaded_from)
    remove_loaded = method(mirroring.remove_loaded)
    documents = method(state.documents)
    attached_tables = method(state.attached_tables)
    runs = method(state.runs)
    show_progress = method(state.show_progress)
    last_run = method(state.last_run)
    workers = method(state.workers)
    queue = method(state.queue)
    findings = method(state.findings)
