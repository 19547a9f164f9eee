"""Starts a pgclarify with a made-up year, and a Superset that shows it."""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlencode

import psycopg
import yaml
from psycopg import sql

from dashboards import bundle, year

HERE = Path(__file__).parent
PYTHON = HERE.parent / ".venv-superset" / "bin" / "python"
ROLE = "dashboard"


@dataclass(frozen=True)
class Started:
    """What runs.

    Attributes:
        url: Address of the dashboard.
        password: Password of the Superset user admin.
        dsn: A superuser's connection string.
        role_password: Password of the role of the dashboard, an analyst and reader of the corpus.
    """

    url: str
    password: str
    dsn: str
    role_password: str


@contextmanager
def started(searches: Sequence[dict[str, str]]) -> Iterator[Started]:
    """Start all of it in a temporary folder; stop and remove it at the end."""
    # The server may run as another user, so the folder must be accessible to all users.
    with tempfile.TemporaryDirectory(prefix="pgclarify-dashboards-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        # Settings of another installation must not apply: the year is made up.
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("PGCLARIFY_", "OPENAI_"))}
        environment |= {"PGCLARIFY_DATA_DIR": str(folder / "data"), "PGCLARIFY_LLM_PROVIDER": "extractive"}
        role_password = secrets.token_urlsafe(16)

        def pgclarify(*arguments: str) -> str:
            command = [sys.executable, "-m", "pgclarify.cli", *arguments]
            done = subprocess.run(command, check=True, env=environment, cwd=folder, stdout=subprocess.PIPE, text=True)
            return done.stdout.strip()

        pgclarify("up", "--detach")
        try:
            dsn = pgclarify("dsn")
            with _superset(folder, uri(dsn, ROLE, role_password)) as (process, url, password):
                pgclarify("load", year.CORPUS, str(HERE.parent / "pgclarify" / "demo_corpus"))
                with psycopg.connect(dsn, autocommit=True) as connection:
                    connection.execute(
                        sql.SQL("create role {} login password {} in role pgclarify_reader").format(
                            sql.Identifier(ROLE), role_password
                        )
                    )
                    for access in ("analyst", "reader"):
                        connection.execute("select pgclarify.grant_access(%s, %s, %s)", [year.CORPUS, ROLE, access])
                    connection.execute("alter role dashboard set timezone = 'UTC'")
                year.make_year(dsn, searches)
                _wait(process, url, folder / "superset" / "superset.log")
                yield Started(f"{url}/superset/dashboard/{bundle.SLUG}/", password, dsn, role_password)
        finally:
            pgclarify("down")


def uri(dsn: str, role: str, password: str) -> str:
    """Return the address of the database for Superset."""
    parts = psycopg.conninfo.conninfo_to_dict(dsn)
    socket_folder = urlencode({"host": parts["host"], "port": parts["port"]})
    return f"postgresql+psycopg2://{role}:{quote(password)}@/{parts['dbname']}?{socket_folder}"


@contextmanager
def _superset(folder: Path, database: str) -> Iterator[tuple[subprocess.Popen[bytes], str, str]]:
    """Start Superset; yield it, its address, which answers some time later, and the password of admin."""
    home = folder / "superset"
    home.mkdir(mode=0o700)
    packed = home / "bundle.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in bundle.files().items():
            shown = content
            if name.startswith("databases/"):
                shown = yaml.safe_dump(yaml.safe_load(content) | {"sqlalchemy_uri": database})
            archive.writestr(f"pgclarify/{name}", shown)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    password = secrets.token_urlsafe(12)
    environment = os.environ | {
        "FLASK_APP": "superset",
        "PGCLARIFY_SUPERSET_KEY": secrets.token_urlsafe(42),
        "PGCLARIFY_SUPERSET_PASSWORD": password,
        "SUPERSET_CONFIG_PATH": str(HERE / "superset_config.py"),
        "SUPERSET_HOME": str(home),
    }
    environment.pop("PYTHONPATH", None)
    command = [str(PYTHON), str(HERE / "serve.py"), str(packed), str(port)]
    with (home / "superset.log").open("w") as log:
        process = subprocess.Popen(command, env=environment, cwd=home, stdout=log, stderr=log)
    try:
        yield process, f"http://127.0.0.1:{port}", password
    finally:
        process.terminate()
        process.wait()


def _wait(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    deadline = time.monotonic() + 600
    while process.poll() is None and time.monotonic() < deadline:
        with suppress(OSError):
            urllib.request.urlopen(f"{url}/health", timeout=10).close()
            return
        time.sleep(0.5)
    raise RuntimeError(
        f"Superset did not start within ten minutes, or ended. Its log ends with:\n{log.read_text()[-4000:]}"
    )
