"""What `pgclarify` exports, how much it imports, and that both clients have the same methods."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import pgclarify
from pgclarify.errors import ConfigurationError, InputError, ServerUnavailable

CHECKOUT = Path(__file__).parents[3]
METHODS = {name for name in dir(pgclarify.Client) if not name.startswith("_")} - {"close"}


def modules_after(statement: str) -> set[str]:
    shown = subprocess.run(
        [sys.executable, "-c", f"{statement}; import sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(shown.stdout.split())


def packages_of(modules: set[str]) -> set[str]:
    """Packages that are not part of Python. A .pth file of the environment loads those with an underscore."""
    packages = {module.partition(".")[0] for module in modules}
    return {name for name in packages if name not in sys.stdlib_module_names and not name.startswith("_")}


@pytest.mark.slow
def test_importing_is_cheap() -> None:
    assert packages_of(modules_after("import pgclarify")) == {"pgclarify"}
    connected = modules_after("from pgclarify import connect")
    drivers = {"cython_runtime", "psycopg", "psycopg_binary", "psycopg_c", "psycopg_pool", "typing_extensions"}
    assert not any(name.startswith("pgclarify.declared") for name in connected)
    assert {"pgclarify", "psycopg"} <= packages_of(connected) <= {"pgclarify"} | drivers
    # Records of a worker. Importing their classes would take half as long as importing the driver.
    records = {name for name in connected if name.startswith(("pgclarify.data.", "pgclarify.protocols"))}
    assert records <= {"pgclarify.data.limits", "pgclarify.data.vocabulary"}


def test_every_export_is_there_and_explained() -> None:
    assert dir(pgclarify) == sorted(pgclarify.__all__)
    for name in set(pgclarify.__all__) - {"__version__"}:
        assert inspect.getdoc(getattr(pgclarify, name)), name
    with pytest.raises(AttributeError):
        _ = pgclarify.no_such_name  # type: ignore[attr-defined]


def test_both_clients_do_the_same() -> None:
    assert {"clarify", "verdicts", "add_documents"} <= METHODS
    for name in METHODS:
        blocking, awaiting = getattr(pgclarify.Client, name), getattr(pgclarify.AsyncClient, name)
        assert inspect.signature(blocking).parameters == inspect.signature(awaiting).parameters
        assert inspect.getdoc(blocking) == inspect.getdoc(awaiting)
        assert inspect.iscoroutinefunction(awaiting) or inspect.isasyncgenfunction(awaiting)


def test_without_a_url_and_without_a_server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PGCLARIFY_DATABASE_URL", raising=False)
    monkeypatch.setenv("PGCLARIFY_DATA_DIR", str(tmp_path / "data"))
    with pytest.raises(ServerUnavailable) as caught:
        pgclarify.connect()
    assert str(tmp_path / "data") in str(caught.value)
    assert caught.value.hint is not None


def test_a_wrong_setting_is_named_and_not_repeated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PGCLARIFY_LLM_CONCURRENCY", "sk-secret")
    with pytest.raises(ConfigurationError) as caught:
        pgclarify.connect()
    assert "concurrency" in str(caught.value).lower()
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("url", ["postgres//alice:secret@host/db", "postgresql://a:%zzsecret@h/d", "secret=1"])
def test_a_connection_string_that_is_none_is_not_repeated(url: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        pgclarify.connect(url)
    assert "secret" not in str(caught.value)
    assert caught.value.__suppress_context__


@pytest.mark.parametrize("client", [pgclarify.Client, pgclarify.AsyncClient])
def test_a_client_is_not_made_of_a_url(client: Any) -> None:
    with pytest.raises(InputError) as caught:
        client("postgresql://alice:secret@host/db")
    assert "secret" not in str(caught.value)


async def test_a_server_that_does_not_answer(tmp_path: Path) -> None:
    with pytest.raises(ServerUnavailable):
        pgclarify.connect(f"host={tmp_path}")
    with pytest.raises(ServerUnavailable):
        await pgclarify.connect_async(f"host={tmp_path}")
    with pytest.raises(ServerUnavailable):
        async with pgclarify.connect_async(f"host={tmp_path}"):
            pass
