"""Prepares a Superset and serves it, in Superset's own environment: see dashboards/__main__.py, which starts it.

Arguments: the ZIP file to import, and the port. The password of the user admin is in PGCLARIFY_SUPERSET_PASSWORD.
"""

import logging
import os
import sys

# The environment of Superset has no types for mypy, and this file runs nowhere else.
from superset.app import create_app  # type: ignore[import-not-found]
from werkzeug.serving import run_simple


def main(bundle: str, port: str) -> None:
    """Make the metadata, a user and the dashboard; then serve until a signal."""
    app = create_app()
    from superset.cli.main import superset  # type: ignore[import-not-found]

    admin = ["--username", "admin", "--firstname", "Demo", "--lastname", "Admin", "--email", "admin@example.com"]
    password = os.environ["PGCLARIFY_SUPERSET_PASSWORD"]
    runner = app.test_cli_runner()
    for command in (
        ["db", "upgrade"],
        ["fab", "create-admin", *admin, "--password", password],
        ["init"],
        ["import-dashboards", "--path", bundle, "--username", "admin"],
    ):
        done = runner.invoke(superset, command)
        if done.exit_code:
            sys.exit(f"superset {' '.join(command[:2])} failed:\n{done.output}\n{done.exception}")
    logging.getLogger("werkzeug").setLevel(logging.WARNING)
    run_simple("127.0.0.1", int(port), app, threaded=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
