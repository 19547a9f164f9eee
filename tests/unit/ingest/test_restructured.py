"""reStructuredText is read as docutils reads it, also with directives and roles of other programs."""

from __future__ import annotations

import pytest

from pgclarify.ingest.parsing import parse


def read(source: str) -> str:
    (parsed,) = parse(source.encode(), ".rst", "page.rst")
    return parsed.content


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("See :ref:`fees`.\n\n.. _fees:\n\nWhat it costs\n=============\n", "See What it costs.\n\n# What it costs"),
        (".. only:: html\n\n   Seen.\n\n.. only:: latex\n\n   Not seen.\n", "Seen."),
        ("Fee : number\n   Ten.\n\na) One\nb) Two\n", "Fee : number\n:   Ten.\n\na. One\nb. Two"),
        ("A book [CIT]_.\n\n.. [CIT] By Ann.\n", "A book [CIT].\n\n[CIT] By Ann."),
        ("Fees\n====\n\nHail\n~~~~\n\nTen dollars.\n", "# Fees\n\n## Hail\n\nTen dollars."),
        ("See :doc:`the guide </guide>` and :ref:`fees`.", "See the guide and fees."),
        ("A `link <https://example.com>`_ and ``code``.", "A link and code."),
        (".. note::\n\n   Ask first.\n", "Ask first."),
        (".. admonition:: Careful\n\n   Ask first.\n", "Careful\n\nAsk first."),
        (".. tab:: On Linux\n\n   Run it.\n\n   .. tip::\n\n      Twice.\n", "On Linux\n\nRun it.\n\nTwice."),
        (".. unknown:thing:: name\n   :option: a long value of it\n\nText.\n", "Text."),
        (".. versionadded:: 2.0 of the manual\n\nText.\n", "2.0 of the manual\n\nText."),
        (".. toctree::\n   :maxdepth: 2\n\n   first\n   second\n\nText.\n", "Text."),
        (".. seealso::\n\n   The page about fees.\n\nText.\n", "Text."),
        (".. include:: /etc/passwd\n\nText.\n", "Text."),
        (".. raw:: html\n\n   <b>bold</b>\n\nText.\n", "Text."),
        (".. image:: a.png\n   :alt: A picture\n\nText |undefined| here.\n", "Text here."),
        (".. code-block:: sh\n\n   # not a heading\n   run it\n", "```\n# not a heading\nrun it\n```"),
        ("If :math:`n=2^{21}`:\n\n.. math::\n\n   p = 10^9\n", "If n=2^{21}:\n\np = 10^9"),
        (".. a comment\n\n.. _target:\n\nText.\n", "Text."),
        ("Text.\n\n.. csv-table::\n   :header: Vehicle, Day\n\n   E-bike, 42\n", "Text.\n\nVehicle: E-bike; Day: 42"),
        ("Title\n==\n\nA *broken `line.\n", "Title\n==\n\nA *broken `line."),
    ],
)
def test_is_read_as_people_see_it(source: str, expected: str) -> None:
    assert read(source) == expected


def test_fields_at_the_beginning_are_metadata() -> None:
    (parsed,) = parse(b":author: Ann\n:orphan:\n\nFees\n====\n\nTen dollars.\n", ".rst", "page.rst")
    assert (parsed.title, parsed.metadata) == ("Fees", {"author": "Ann"})
    assert parsed.content == "# Fees\n\nTen dollars."
