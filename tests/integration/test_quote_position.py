"""A quote of a document that has changed is found again as whole words, or is gone."""

from __future__ import annotations

import pytest

from tests.sessions import Connection, scalar

pytestmark = pytest.mark.rolled_back


@pytest.mark.parametrize(
    ("content", "quote", "start", "position"),
    [
        ("The fee is 40 euros.", "40 euros", 11, 11),
        ("Now the fee is 40 euros.", "40 euros", 11, 15),
        # At the old place, or elsewhere, it is a part of another word or number.
        ("The fee is 40 eurocents.", "40 euro", 11, None),
        ("The fee is 140 euros.", "40 euros", 11, None),
        ("The fee is 1.40 euros.", "40 euros", 11, None),
        ("It is kept at -40 degrees.", "40 degrees", 3, None),
        ("A fee of 40", "40", 9, 9),
        ("A fee of 40.50 is due", "40", 9, None),
        ("Interns are unpaid.", "paid", 2, None),
        ("It is non-refundable.", "refundable", 6, None),
        ("Es ist die Haustür.", "tür", 4, None),
        ("Это неоплачиваемый отпуск", "оплачиваемый", 4, None),
        ("cafe\u0301 bar", "cafe", 0, None),
        # A later occurrence is whole.
        ("140 euros or 40 euros.", "40 euros", 0, 13),
        # Japanese has no blanks between words, but digits belong together.
        ("図書館は午前9時に開く。", "午前9時", 0, 4),
        ("図書館は400円です。", "40", 4, None),
    ],
)
def test_a_quote_is_found_again_only_as_whole_words(
    connection: Connection, content: str, quote: str, start: int, position: int | None
) -> None:
    assert scalar(connection, "select pgclarify_private.quote_position(%s, %s, %s)", content, quote, start) == position
