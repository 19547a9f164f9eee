"""Arrays as text that PostgreSQL reads."""

from datetime import UTC, datetime

import pytest

from pgclarify.data.verdicts import Refusal
from pgclarify.database.arrays import Element, array_text


@pytest.mark.parametrize(
    ("elements", "text"),
    [
        ([], "{}"),
        ([1, -2, None, 1.5], "{1,-2,NULL,1.5}"),
        ([True, False], "{True,False}"),
        (["", "NULL", "a b", "{a,b}", None], '{"","NULL","a b","{a,b}",NULL}'),
        (['say "no"', "back\\slash", "line\nbreak"], '{"say \\"no\\"","back\\\\slash","line\nbreak"}'),
        ([b"\x00\xff"], '{"\\\\x00ff"}'),
        ([datetime(2026, 11, 22, 5, 30, 0, 123456, tzinfo=UTC)], '{"2026-11-22T05:30:00.123456+00:00"}'),
        ([Refusal.UNPROVEN], f'{{"{Refusal.UNPROVEN.value}"}}'),
    ],
)
def test_elements_are_told_apart(elements: list[Element], text: str) -> None:
    assert array_text(elements) == text
