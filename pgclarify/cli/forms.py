"""What a command that asks is made of. The list of commands is shown without importing more than this."""

from __future__ import annotations

from typing import NamedTuple


class Flag(NamedTuple):
    """A parameter of an operation.

    Attributes:
        name: Its name.
        type: Its type in SQL.
        default: Its value if it is not given.
        meaning: What it is.
        is_required: Whether it must be given: then it is an argument without a name.
    """

    name: str
    type: str
    default: object
    meaning: str
    is_required: bool = False


class AskingForm(NamedTuple):
    """A command that asks.

    Attributes:
        name: Its name.
        operation: The client's method.
        summary: Its sentence, for the list of commands; and more sentences, for its own help.
        doing: What is shown meanwhile.
        example: The end of its example.
        show: The function of `result_rendering` that renders a question and its rows, at least one.
        remark: Likewise for what is written to standard error, so that only the result is on standard output; None if
            all is the result. The exit code is then 1 if the run ended early.
        timeout: How many seconds it waits by default.
        flags: The parameters of the operation, without its timeout.
        options: The names of its other options.
    """

    name: str
    operation: str
    summary: str
    doing: str
    example: str
    show: str
    remark: str | None
    timeout: float | None
    flags: tuple[Flag, ...]
    options: tuple[str, ...]
