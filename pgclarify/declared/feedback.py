"""Feedback: what people say of readings."""

from __future__ import annotations

from typing import Final

from pgclarify.data.vocabulary import Rating
from pgclarify.declared.forms import Function, Parameter
from pgclarify.declared.words import listed

FEEDBACK: Final = Function(
    name="give_feedback",
    summary="Rate a reading of a run, or, without an ordinal, say that the right answer is missing; true if anything "
    "changed. Each role and person has one rating of a reading: given again, it replaces the one before. Null removes "
    "it. View feedback shows them.",
    parameters=(
        Parameter("run_id", "bigint", "a run of clarify or consolidate that is over and that you may see"),
        Parameter("ordinal", "integer", "the reading; null: what is missing", "null"),
        Parameter("rating", "text", f"{listed(Rating)}; null removes it", "null"),
        Parameter("comment", "text", "why, in at most 10,000 characters", "null"),
        Parameter(
            "person",
            "text",
            "who says so, if several people share your role, in at most 200 characters; it is not checked",
            "null",
        ),
        Parameter(
            "missing",
            "text",
            "without an ordinal: the right answer, which no reading has, in 1 to 10,000 characters; null removes it",
            "null",
        ),
    ),
    writes=True,
    since="0.4.0",
    returns="boolean",
)
