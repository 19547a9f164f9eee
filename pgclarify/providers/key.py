"""The key of an endpoint: from an environment variable, or from a file that may change while the worker runs."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Final

from pydantic import SecretStr

from pgclarify.config import is_key
from pgclarify.errors import ConfigurationError

# Keys have about a hundred characters, tokens a few thousand. A larger file is not a key.
_MOST_BYTES: Final = 16 * 1024

_logger = logging.getLogger(__name__)


class Key:
    """The key of an endpoint.

    Args:
        value: The key; None or blank if there is none, or if it is in a file.
        file: A file that contains the key, and otherwise only white space.
        variable: The environment variable of the key. The variable of the file has the suffix _FILE.

    Attributes:
        variable: The variable that is set, for errors; that of the key if neither is set.

    Raises:
        ConfigurationError: If both are given, or the file holds no key.
    """

    def __init__(self, value: SecretStr | None, file: Path | None, variable: str) -> None:
        given = value.get_secret_value().strip() if value else ""
        if given and file is not None:
            raise ConfigurationError(
                f"{variable} and {variable}_FILE are both set",
                detail=f"The key is taken either from the environment or from {file}.",
                hint="Unset one of them.",
            )
        self.variable = variable if file is None else f"{variable}_FILE"
        self._file = file
        self._is_readable = True
        # The second one is the previous key: an error about a call in flight may quote it.
        self._known = (given if file is None else self._read(file), "")

    def current(self) -> str:
        """Return the key; empty if there is none.

        A file is read again each time. If it has no key at the moment, such as during a change, the last key stays
        valid.
        """
        if self._file is not None:
            try:
                found = self._read(self._file)
            except ConfigurationError as error:
                if self._is_readable:
                    _logger.warning("%s: %s The last key stays in use.", error.message, error.detail)
                self._is_readable = False
            else:
                self._is_readable = True
                if found != self._known[0]:
                    self._known = (found, self._known[0])
        return self._known[0]

    def hide(self, text: str) -> str:
        """Remove the key, and the previous one, from a text."""
        self.current()
        for known in self._known:
            if known:
                text = text.replace(known, "***")
        return text

    def _read(self, file: Path) -> str:
        message = f"{self.variable} does not name a file with a key"
        hint = f"Write the key into that file, readable by the worker, or set {self.variable} to another file."
        try:
            with file.open("rb") as opened:
                content = opened.read(_MOST_BYTES + 1)
        except OSError as error:
            raise ConfigurationError(message, detail=f"{file}: {error.strerror}.", hint=hint) from None
        key = content.decode("ascii", "replace").strip()
        if not key:
            raise ConfigurationError(message, detail=f"{file} is empty.", hint=hint)
        if len(content) > _MOST_BYTES or not is_key(key):
            raise ConfigurationError(
                message,
                detail=f"{file} has other content: a key is ASCII without blanks and control characters.",
                hint=hint,
            )
        return key
