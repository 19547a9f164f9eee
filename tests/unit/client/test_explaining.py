"""The script of explain: the statement that it sends, and the lines that it makes of the rows."""

from __future__ import annotations

import json

from pgclarify.client import explaining
from pgclarify.client.scripts import Session
from tests.unit.client.playing import play


def test_lines_in_order() -> None:
    played = play(explaining.explain(Session("ignored"), 3, detail="stages"), [{"line": "a"}, {"line": "  b"}])

    (sent,) = played.sent
    assert (sent.name, sent.parameters["run_id"]) == ("client_explain", 3)
    assert json.loads(str(sent.parameters["options"])) == {"detail": "stages"}
    assert played.returned == ["a", "  b"]
