"""Files that are archives of XML, as those of office programs and e-books are."""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Mapping
from io import BytesIO
from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from lxml.etree import _Element


def xml_root(data: bytes) -> _Element:
    """Parse XML, without what it would load from elsewhere.

    Raises:
        ImportError: If the extra "files" is not installed.
        ValueError: If it is no XML.
    """
    # An optional extra.
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True)
    try:
        return etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        # Without memory, the parser knows no line.
        if error.lineno:
            raise
        raise MemoryError from error


def written(root: _Element) -> bytes:
    """Write XML."""
    from lxml import etree

    return bytes(etree.tostring(root))


class Package:
    """The parts of an archive.

    Args:
        data: The file.

    Raises:
        zipfile.BadZipFile: If it is no archive.
    """

    def __init__(self, data: bytes) -> None:
        self._archive = zipfile.ZipFile(BytesIO(data))
        self.parts = self._archive.namelist()

    def read(self, part: str) -> bytes:
        """Return a part."""
        return self._archive.read(part)

    def root(self, part: str) -> _Element:
        """Parse a part."""
        return xml_root(self.read(part))

    def find(self, part: str) -> _Element | None:
        """Parse a part; None if it is not there."""
        return self.root(part) if part in self.parts else None

    def plain(self, part: str) -> _Element:
        """Parse a part whose names are clear without namespaces; an empty element if it is not there."""
        from lxml import etree

        root = self.find(part)
        if root is None:
            return etree.Element("none")
        for element in root.iter():
            attributes = {etree.QName(name).localname: value for name, value in element.attrib.items()}
            element.attrib.clear()
            element.attrib.update(attributes)
            element.tag = etree.QName(element).localname
        return root

    def changed(self, parts: Mapping[str, bytes]) -> bytes:
        """Return the file with other parts in the place of some."""
        stream = BytesIO()
        with zipfile.ZipFile(stream, "w") as new:
            for part in self.parts:
                new.writestr(part, parts[part] if part in parts else self.read(part))
        return stream.getvalue()

    def place(self, part: str, reference: str) -> str:
        """Return the name of the part that another one refers to."""
        return posixpath.normpath(posixpath.join("/", posixpath.dirname(part), unquote(reference))).lstrip("/")
