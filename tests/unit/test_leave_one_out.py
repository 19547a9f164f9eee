"""The benchmark that leaves each check of verdicts and each rule of the reader out."""

from __future__ import annotations

import pytest

from benchmarks.quality.leave_one_out.__main__ import kept_readings
from benchmarks.quality.leave_one_out.cases import Case
from benchmarks.quality.leave_one_out.parts import CHECKS, NOTHING, ONLY_THE_QUOTE, RULES, Part
from pgclarify.data.documents import Passage
from pgclarify.data.verdicts import Reading

_POLICY = Passage("d", 1, "The rental endorsement pays 45 dollars a day. Members may park a trailer free of charge.")
_BESIDE = Reading("What is the fee to park a trailer?", "45 dollars", "The rental endorsement pays 45 dollars a day.")


def _keeps_a_quote_beside_the_point(part: Part) -> bool:
    case = Case("offices", "trailers", _POLICY, 0, lambda answer: set(), _BESIDE)
    return kept_readings([case], [_BESIDE], part) == [_BESIDE]


@pytest.mark.parametrize("part", [*CHECKS, *RULES], ids=lambda part: part.name)
def test_a_part_is_in_the_code_and_is_put_back(part: Part) -> None:
    before = part.module and getattr(part.module, part.attribute)
    with part.left_out():
        assert part.module is None or getattr(part.module, part.attribute) is not before
    assert (part.module and getattr(part.module, part.attribute)) is before


def test_what_one_check_refuses_is_kept_only_without_it() -> None:
    assert not _keeps_a_quote_beside_the_point(NOTHING)
    keeping = [part.name for part in (ONLY_THE_QUOTE, *CHECKS) if _keeps_a_quote_beside_the_point(part)]
    assert keeping == [ONLY_THE_QUOTE.name, "check_proof_is_to_the_point"]
