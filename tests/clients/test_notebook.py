"""The notebook of the tutorials, in a real kernel, against a real server."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.clients.serving import ClientService
from tests.openai_server import Server
from tests.pages import CHECKOUT

NOTEBOOK = CHECKOUT / "docs" / "tutorials" / "notebook.ipynb"


def test_every_cell_of_the_notebook_shows_its_result(
    service: ClientService, model: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PGCLARIFY_DATABASE_URL", service.url())
    # Neither settings nor history of the user who runs the tests.
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "outputs do not belong into the repository"

    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()

    shown = [cell.outputs[-1]["data"]["text/html"] for cell in notebook.cells if cell.cell_type == "code"]
    readings, answers, table, tree, cited = shown
    assert "<mark>" in readings
    assert "<h4>who won the chess match</h4>" in answers
    assert "<table" in table
    assert tree.startswith("<pre>")
    assert "cost=$" in tree or "calls=" in tree
    assert "citations" in cited
