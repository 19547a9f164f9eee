"""Processes, known by more than a number: the system gives the number of a process that has ended to another one."""

from __future__ import annotations

import os
import re
import signal
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

_PROCESSES = Path("/proc")
_LONGEST_COMMAND = 200


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """What no other process has, now or later.

    Attributes:
        number: The process id.
        started: When it started, in ticks of the system; empty where the system has no /proc.
        boot: The id of the boot of the system; likewise.
    """

    number: int
    started: str = ""
    boot: str = ""

    @classmethod
    def of(cls, number: int) -> Self:
        """Return the identity of a process that runs, or that is our own child."""
        return cls(number, _started(number), _boot())

    @classmethod
    def parse(cls, text: bytes) -> Self | None:
        """Read the text of an identity; None if it is none."""
        parts = re.fullmatch(rb"([1-9][0-9]{0,9})(?: ([0-9]+) ([0-9a-f-]+))?\s*", text)
        return None if parts is None else cls(int(parts[1]), (parts[2] or b"").decode(), (parts[3] or b"").decode())

    def __str__(self) -> str:
        return f"{self.number} {self.started} {self.boot}".strip()

    def is_alive(self) -> bool:
        """Whether this process is there, and not another one that has its number now."""
        # Without /proc there is only the number.
        return self == ProcessIdentity.of(self.number) and (bool(self.started) or not has_proc())

    def holds(self, file: int) -> bool:
        """Whether a process of this number has an open file open, too. False if we may not know."""
        wanted = os.fstat(file)
        with suppress(OSError):
            for opened in (_PROCESSES / str(self.number) / "fd").iterdir():
                with suppress(OSError):
                    if os.path.samestat(opened.stat(), wanted):
                        return True
        return False


class Signals:
    """Sends signals to one process, and never to a later one with its number.

    Args:
        number: Its process id. Check after this that it is the right process.

    Raises:
        ProcessLookupError: If there is none.
    """

    def __init__(self, number: int) -> None:
        self._number = number
        # Without it, the number may get another owner between a check and a signal.
        self._process = os.pidfd_open(number) if hasattr(os, "pidfd_open") else None

    def send(self, number: signal.Signals) -> None:
        """Send a signal; nothing happens if the process has ended."""
        with suppress(ProcessLookupError):
            if self._process is None:
                os.kill(self._number, number)
            else:
                signal.pidfd_send_signal(self._process, number)

    def close(self) -> None:
        """Release the process."""
        if self._process is not None:
            os.close(self._process)


def described(process: ProcessIdentity) -> str:
    """Name a process for people: its number and its command."""
    command = ""
    with suppress(OSError):
        parts = (_PROCESSES / str(process.number) / "cmdline").read_bytes().split(b"\0")
        command = " ".join(part.decode(errors="replace") for part in parts).strip()
    shown = "".join(letter if letter.isprintable() else "?" for letter in command[:_LONGEST_COMMAND])
    return f"Process {process.number}" + (f" ({shown})" if shown else "")


def owner_of(number: int) -> int | None:
    """Return the user id of a process; None if there is no such process, or no /proc."""
    with suppress(OSError):
        return (_PROCESSES / str(number)).stat().st_uid
    return None


def has_proc() -> bool:
    """Whether the system says in /proc what processes do."""
    return (_PROCESSES / "self").exists()


def _started(number: int) -> str:
    with suppress(OSError):
        # The name of the program, in parentheses, may have blanks and parentheses itself. The start is field 22.
        return (_PROCESSES / str(number) / "stat").read_text(errors="replace").rpartition(")")[2].split()[19]
    return ""


def _boot() -> str:
    with suppress(OSError):
        return (_PROCESSES / "sys/kernel/random/boot_id").read_text().strip()
    return ""
