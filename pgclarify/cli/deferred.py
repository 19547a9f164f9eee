"""Commands whose modules are imported when they are called: showing all of them, or running one, needs no other."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand


class DeferredCommand(TyperCommand):
    """A command, or a group of commands, known by its name and its first sentence until it is called.

    Args:
        name: As it is typed. Its examples are in its module, as NAME_EXAMPLES; not every command has some.
        place: Its module in `pgclarify.cli`, and the function or the Typer app in it.
        help: What the list of commands says: the first paragraph of the function's docstring.
        context_settings: As Typer takes them.
    """

    def __init__(
        self,
        name: str,
        place: str,
        help: str,  # noqa: A002
        *,
        context_settings: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(name, help=help)
        self._place = place
        self._settings = context_settings

    @cached_property
    def command(self) -> Any:  # noqa: ANN401
        """The command itself, with its options. Its type is Click's, which newer versions of Typer hide."""
        module_name, _, attribute = self._place.partition(":")
        module = import_module(f"pgclarify.cli.{module_name}")
        found = getattr(module, attribute)
        if isinstance(found, typer.Typer):
            group = typer.main.get_group(found)
            group.name = self.name
            return group
        examples = f"{str(self.name).upper().replace('-', '_')}_EXAMPLES"
        alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")
        settings = dict(self._settings) if self._settings is not None else None
        alone.command(self.name, epilog=getattr(module, examples, None), context_settings=settings)(found)
        return typer.main.get_command(alone)

    def make_context(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        """Parse arguments by the command itself, which from then on takes the place of this one."""
        return self.command.make_context(*args, **kwargs)
