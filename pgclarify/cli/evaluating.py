"""The commands of evaluations: eval run and eval list."""

from __future__ import annotations

import typer

app = typer.Typer(no_args_is_help=True, help="Measure how good answers are, on your own questions.")
