"""Commands whose modules are imported on use, so that listing the commands, or running one, imports no others."""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand

from pgclarify.cli.forms import AskingForm


class DeferredCommand(TyperCommand):
    """A command or a group of commands. Only its name and its first sentence are known until it is used.

    Args:
        name: The name to type. Its examples are NAME_EXAMPLES in its module, if it has some.
        place: Its module in `pgclarify.cli`, and the function or the Typer app in it.
        help: Its sentence in the list of commands.
        group: The part of the list to which it belongs.
    """

    def __init__(
        self,
        name: str,
        place: str,
        help: str,  # noqa: A002
        group: str,
    ) -> None:
        super().__init__(name, help=help, rich_help_panel=group)
        self._place = place

    @cached_property
    def command(self) -> Any:  # noqa: ANN401
        """Return the command itself, with its options. Its type is Click's, which newer versions of Typer hide."""
        found, examples = self._load()
        if isinstance(found, typer.Typer):
            group = typer.main.get_group(found)
            group.name = self.name
            group.help = self.help
            return _without_type_of_help(group)
        alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")
        alone.command(self.name, epilog=examples)(found)
        return _without_type_of_help(typer.main.get_command(alone))

    def _load(self) -> tuple[Any, str | None]:
        """Import the function or the Typer app, and its examples."""
        module_name, _, attribute = self._place.partition(":")
        module = import_module(f"pgclarify.cli.{module_name}")
        examples = f"{str(self.name).upper().replace('-', '_')}_EXAMPLES"
        return getattr(module, attribute), getattr(module, examples, None)

    def make_context(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        """Parse arguments with the command itself, which replaces this one from then on."""
        return self.command.make_context(*args, **kwargs)


def _without_type_of_help(command: Any) -> Any:  # noqa: ANN401
    """Leave out the type of --help, which Typer makes itself, of a command and of those in a group."""
    make = command.get_help_option

    def help_option(context: Any) -> Any:  # noqa: ANN401
        option = make(context)
        option.metavar = ""
        return option

    command.get_help_option = help_option
    for inner in getattr(command, "commands", {}).values():
        _without_type_of_help(inner)
    return command


class AskingCommand(DeferredCommand):
    """A command that asks.

    Args:
        form: All that is known of it. The first sentence of its summary stands in the list of commands.
        group: As in DeferredCommand.
    """

    def __init__(self, form: AskingForm, group: str) -> None:
        sentence = form.summary.partition(". ")[0].removesuffix(".")
        super().__init__(form.name, "operations:command", f"{sentence}.", group)
        self._form = form

    def _load(self) -> tuple[Any, str | None]:
        from pgclarify.cli import operations

        return operations.command(self._form), operations.examples(self._form)
