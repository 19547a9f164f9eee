"""The command use: choose the language model of the workers that are started in this folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pgclarify.cli import connection, processes, server, terminal
from pgclarify.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pgclarify.config import Settings

USE_EXAMPLES = terminal.examples(
    "pgclarify use http://127.0.0.1:11434/v1 qwen2.5:7b",
    "pgclarify use ./qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
)
_ADDRESS, _MODEL = "OPENAI_BASE_URL", "PGCLARIFY_LLM_MODEL"
# With one of these, a worker would use something else than the address, or than the file.
_INSTEAD_OF_ADDRESS = ("AZURE_OPENAI_ENDPOINT", "PGCLARIFY_LLM_PROVIDER")
_INSTEAD_OF_FILE = (*_INSTEAD_OF_ADDRESS, "OPENAI_API_KEY", "OPENAI_API_KEY_FILE")
# A variable without a value, and values of PGCLARIFY_LLM_PROVIDER.
_HARMLESS = (None, "", "auto", "openai")


def use(
    target: Annotated[
        str,
        typer.Argument(
            metavar="URL|FILE", help="The address of a model server, or a .gguf file, which the worker then serves."
        ),
    ],
    model: Annotated[str | None, typer.Argument(metavar="[MODEL]", help="The model's name at that address.")] = None,
) -> None:
    """Read passages with this language model from now on, in this folder. A running worker starts again with it."""
    if "://" in target:
        if model is None:
            raise typer.BadParameter("The model is missing. Write: pgclarify use URL MODEL")
        chosen: dict[str, str | None] = {_ADDRESS: target, _MODEL: model}
        _refuse_other_variables(chosen, _INSTEAD_OF_ADDRESS)
    else:
        if model is not None or not target.endswith(".gguf"):
            raise typer.BadParameter("Write: pgclarify use URL MODEL, or: pgclarify use FILE.gguf")
        chosen = {_ADDRESS: None, _MODEL: str(Path(target).expanduser().resolve())}
        _refuse_other_variables(chosen, _INSTEAD_OF_FILE)
    settings = connection.load_settings()
    settings = settings.model_copy(update={"openai_base_url": chosen[_ADDRESS], "llm_model": chosen[_MODEL]})
    _check(settings)
    _write(chosen)
    _say_what_is_sent(settings)
    files = processes.WorkerFiles.of(settings)
    if processes.is_running(files):
        processes.stop(files)
        server.start_worker(settings, connection.running_dsn(settings))
    else:
        terminal.notices().print(terminal.commands("Start a worker with it: pgclarify up --detach"))


def _refuse_other_variables(chosen: Mapping[str, str | None], others: tuple[str, ...]) -> None:
    """Refuse a choice that other variables would override.

    Raises:
        ConfigurationError: If there are such variables.
    """
    from dotenv import dotenv_values

    from pgclarify.config import ENV_FILE

    stored = dotenv_values(ENV_FILE)
    overriding = [name for name, value in chosen.items() if os.environ.get(name, value or "") != (value or "")]
    overriding += [name for name in others if os.environ.get(name, stored.get(name)) not in _HARMLESS]
    if overriding:
        raise ConfigurationError(
            "other variables would override this choice",
            detail=f"They are set in the environment or in {ENV_FILE}: {', '.join(overriding)}.",
            hint=f"Remove them from {ENV_FILE}, run: unset {' '.join(overriding)}   and then repeat the command.",
        )


def _check(settings: Settings) -> None:
    """Ask the server for its models, or look for the file.

    Raises:
        ConfigurationError: If the model cannot be used.
    """
    from pgclarify.cli import rendering
    from pgclarify.cli.doctor.check import Level
    from pgclarify.cli.doctor.endpoint import check_endpoints

    for check in check_endpoints(settings, has_workers=False):
        if check.level is Level.PROBLEM:
            raise ConfigurationError("this language model cannot be used", detail=check.finding, hint=check.remedy)
        if check.level is Level.WARNING:
            terminal.notices().print(rendering.warning(check.finding, check.remedy), soft_wrap=True)


def _write(chosen: Mapping[str, str | None]) -> None:
    from dotenv import dotenv_values, set_key, unset_key

    from pgclarify.config import ENV_FILE

    for name, value in chosen.items():
        if value is not None:
            set_key(ENV_FILE, name, value)
        elif name in dotenv_values(ENV_FILE):
            unset_key(ENV_FILE, name)


def _say_what_is_sent(settings: Settings) -> None:
    from pgclarify.cli.doctor.model_servers import SENT
    from pgclarify.config import ENV_FILE

    say = terminal.notices().print
    say(
        f"written to {Path(ENV_FILE).resolve()}, which pgclarify reads when it is started in this folder",
        soft_wrap=True,
    )
    if settings.model_file is not None:
        say("the worker serves the file for itself: nothing leaves this machine")
        return
    has_key = settings.openai_api_key is not None or settings.openai_api_key_file is not None
    say(f"{settings.openai_base_url} gets {SENT}{'; and the key of OPENAI_API_KEY' if has_key else ''}", soft_wrap=True)
