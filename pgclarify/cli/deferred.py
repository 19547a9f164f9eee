"""Commands whose modules are imported on use, so that listing the commands, or running one, imports no others."""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand


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
        module_name, _, attribute = self._place.partition(":")
        module = import_module(f"pgclarify.cli.{module_name}")
        found = getattr(module, attribute)
        if isinstance(found, typer.Typer):
            group = typer.main.get_group(found)
            group.name = self.name
            return group
        examples = f"{str(self.name).upper().replace('-', '_')}_EXAMPLES"
        alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")
        alone.command(self.name, epilog=getattr(module, examples, None))(found)
        return typer.main.get_command(alone)

    def make_context(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        """Parse arguments with the command itself, which replaces this one from then on."""
        return self.command.make_context(*args, **kwargs)
