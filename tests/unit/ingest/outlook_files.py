"""Writes messages of Outlook, of which no library writes any: compound files of small streams."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

_SECTOR, _SMALL = 512, 64
_END, _FREE, _FAT = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD


class _Sectors:
    """Sectors of one size, and the table that says which one follows each."""

    def __init__(self, size: int) -> None:
        self.size, self.data, self.table = size, b"", list[int]()

    def store(self, data: bytes) -> int:
        first = len(self.table)
        self.data += data + bytes(-len(data) % self.size)
        self.table.extend(range(first + 1, len(self.data) // self.size + 1))
        if data:
            self.table[-1] = _END
        return first if data else _END

    def table_bytes(self) -> bytes:
        return struct.pack(f"<{len(self.table)}I", *self.table)


def outlook_file(parts: Mapping[str, Any]) -> bytes:
    """A compound file: a text or bytes is a stream, and a mapping a storage with parts of its own."""
    small, large = _Sectors(_SMALL), _Sectors(_SECTOR)
    entries = [b""]

    def entry(name: str, kind: int, right: int, child: int, start: int, size: int) -> bytes:
        encoded = f"{name}\0".encode("utf-16-le")
        return struct.pack("<64sHBBIII36sIQ", encoded, len(encoded), kind, 1, _FREE, right, child, b"", start, size)

    def add_all(parts: Mapping[str, Any]) -> int:
        right = _FREE
        for name, part in reversed(list(parts.items())):
            if isinstance(part, Mapping):
                entries.append(entry(name, 1, right, add_all(part), 0, 0))
            else:
                data = part.encode("utf-16-le") if isinstance(part, str) else part
                entries.append(entry(name, 2, right, _FREE, small.store(data), len(data)))
            right = len(entries) - 1
        return right

    child = add_all(parts)
    entries[0] = entry("Root Entry", 5, _FREE, child, large.store(small.data), len(small.data))
    small_table = large.store(small.table_bytes().ljust(_SECTOR, b"\xff"))
    directory = large.store(b"".join(entries))
    large.table.append(_FAT)
    assert max(len(large.table), len(small.table)) <= _SECTOR // 4, "one sector has each table"
    header = struct.pack(
        "<8s16sHHHHH6sIIIIIIIIII",
        bytes.fromhex("d0cf11e0a1b11ae1"), b"", 0x3E, 3, 0xFFFE, 9, 6, b"",
        0, 1, directory, 0, 4096, small_table, 1, _END, 0, len(large.table) - 1,
    )  # fmt: skip
    return header.ljust(_SECTOR, b"\xff") + large.data + large.table_bytes().ljust(_SECTOR, b"\xff")
