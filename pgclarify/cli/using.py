"""The command use: choose the language model of the workers that are started in this folder."""

from __future__ import annotations

import ipaddress
import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from dotenv import dotenv_values, set_key, unset_key

from pgclarify.cli import connection, processes, progress, rendering, server, terminal
from pgclarify.cli.doctor.check import Level
from pgclarify.cli.doctor.endpoint import UnlistedModel, check_endpoints
from pgclarify.cli.doctor.model_servers import SENT
from pgclarify.cli.doctor.service import check_findings
from pgclarify.cli.doctor.trials import check_trials
from pgclarify.config import ENV_FILE, Settings
from pgclarify.errors import ConfigurationError

USE_EXAMPLES = terminal.examples(
    "pgclarify use http://127.0.0.1:11434/v1 qwen2.5:7b",
    "pgclarify use ./qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
)
_ADDRESS, _MODEL = "OPENAI_BASE_URL", "PGCLARIFY_LLM_MODEL"
# In hints: a person who gave an address has set no variable.
_WHAT_WAS_GIVEN = "the address"
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
    if settings.model_file is None:
        _say_what_is_sent(settings)
    with progress.waiting("Looking at the model"):
        _check(settings)
    _write(chosen)
    files = processes.WorkerFiles.of(settings)
    if processes.is_running(files):
        with progress.waiting("Stopping the worker"):
            processes.stop(files)
        dsn = connection.running_dsn(settings)
        server.start_worker(settings, dsn)
        _say_what_is_read_at_once(dsn)
    else:
        terminal.notices().print(terminal.commands("Start a worker with it: pgclarify up --detach"))


def _say_what_is_read_at_once(dsn: str) -> None:
    with connection.connect(dsn) as database:
        client = connection.client_of(database)
        budgets = [row for row in client.rows("client_list_findings") if row["kind"] == "budgets"]
        checks = check_trials(client.rows("client_list_model_trials"))
        if any(row["level"] == "problem" for row in budgets):
            checks += check_findings(budgets)
        for check in checks:
            terminal.notices().print(check.line(), soft_wrap=True)


def _refuse_other_variables(chosen: Mapping[str, str | None], others: tuple[str, ...]) -> None:
    """Refuse a choice that other variables would override.

    Raises:
        ConfigurationError: If there are such variables.
    """
    stored = dotenv_values(ENV_FILE)
    overriding = [name for name, value in chosen.items() if os.environ.get(name, value or "") != (value or "")]
    overriding += [name for name in others if os.environ.get(name, stored.get(name)) not in _HARMLESS]
    if overriding:
        raise ConfigurationError(
            "other variables would override this choice",
            detail=f"They are set in the environment or in {ENV_FILE}: {', '.join(overriding)}.",
            hint=f"Remove them from {ENV_FILE}, run: unset {' '.join(overriding)}   and then repeat the command.",
        )


def _say_what_is_sent(settings: Settings) -> None:
    """Say what the address gets, before anything is sent there.

    Raises:
        ConfigurationError: If it is no web address, or others could read the key on the way there.
    """
    from pgclarify.providers.client import Address

    address = Address.of_chat(settings)
    address.url_variable = _WHAT_WAS_GIVEN
    address.check()
    if address.has_key and address.base_url.lower().startswith("http:") and not _is_this_machine(address.host):
        raise ConfigurationError(
            "the key would be sent without encryption",
            detail=f"{address.base_url} is on another machine, and http does not encrypt {address.key_variable}.",
            hint=f"Use https://, or remove {address.key_variable} if the server needs no key. In a network that you"
            f" trust, write {_ADDRESS} and {_MODEL} into the file .env yourself.",
        )
    say = terminal.notices().print
    key = f", with the key of {address.key_variable}" if address.has_key else ""
    say(f"asking {address.base_url} for its models{key}", soft_wrap=True)
    say(f"if it has this model, {address.base_url} gets {SENT}", soft_wrap=True)


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _check(settings: Settings) -> None:
    """Ask the server for its models, or look at the file.

    Raises:
        ConfigurationError: If the model cannot be used.
    """
    from pgclarify.worker.model_file import checked_size

    for check in check_endpoints(settings, has_workers=False):
        remedy = None if check.remedy is None else check.remedy.replace(_ADDRESS, _WHAT_WAS_GIVEN)
        if isinstance(check, UnlistedModel):
            names = [*map(rendering.printable, check.nearest)]
            raise ConfigurationError(
                "the server does not list this model",
                detail=f"Its models with the most similar names: {', '.join(names)}.",
                hint=f"Choose one of them, as in: pgclarify use {settings.openai_base_url} {shlex.quote(names[0])}",
            )
        if check.level is Level.PROBLEM:
            raise ConfigurationError("this language model cannot be used", detail=check.finding, hint=remedy)
        if check.level is Level.WARNING:
            terminal.warn(check.finding, remedy)
    if settings.model_file is not None:
        checked_size(settings.model_file)


def _write(chosen: Mapping[str, str | None]) -> None:
    for name, value in chosen.items():
        if value is not None:
            set_key(ENV_FILE, name, value)
        elif name in dotenv_values(ENV_FILE):
            unset_key(ENV_FILE, name)
    say = terminal.notices().print
    say(
        f"written to {Path(ENV_FILE).resolve()}, which pgclarify reads when it is started in this folder",
        soft_wrap=True,
    )
    if chosen[_ADDRESS] is None:
        say("the worker serves the file for itself: nothing leaves this machine")
