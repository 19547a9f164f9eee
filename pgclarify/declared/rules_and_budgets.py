"""Functions of rules of ambiguity and of budgets."""

from __future__ import annotations

from typing import Final

from pgclarify.data.vocabulary import AmbiguityKind, BudgetPeriod
from pgclarify.declared import options
from pgclarify.declared.forms import Function, Option, Parameter
from pgclarify.declared.words import listed

RULES_AND_BUDGETS: Final = (
    Function(
        name="add_ambiguity_rule",
        summary="Add a rule of ambiguity, or change kind and note of the rule with that pattern; true if anything "
        "changed.",
        parameters=(
            Parameter(
                "pattern",
                "text",
                "regular expression (advanced, any case of letters) of 1 to 500 characters, found anywhere in a "
                "question",
            ),
            Parameter("kind", "text", listed(AmbiguityKind, with_meanings=False)),
            Parameter(
                "corpus", "text", "one that you own; null is all questions, for members of pgclarify_owner", "null"
            ),
            Parameter("note", "text", "why, in 1 to 500 characters", "null"),
        ),
        writes=True,
        returns="boolean",
    ),
    Function(
        name="remove_ambiguity_rule",
        summary="Remove a rule of ambiguity; true if there was one.",
        parameters=(
            Parameter("pattern", "text", "its pattern, as it was given"),
            Parameter("corpus", "text", "as in add_ambiguity_rule", "null"),
        ),
        writes=True,
        returns="boolean",
    ),
    Function(
        name="set_budget",
        summary="Create a budget, or change the one of that name; true if anything changed. Omitted options are not "
        "changed. A new budget needs a period and a limit.",
        parameters=(
            Parameter("name", "text", "1 to 100 characters"),
            Parameter(
                "corpus", "text", "one that you own; null is all corpora, for members of pgclarify_owner", "null"
            ),
        ),
        options=(
            Option(
                name="period",
                choices=tuple(BudgetPeriod),
                meaning="Time after which the budget starts anew.",
            ),
            Option(
                name="max_cost_usd",
                type="number",
                least=0,
                most=1000000000000,
                meaning="Most US dollars in the period; null: no such limit.",
            ),
            options.MAX_CALLS.but(
                meaning="Most calls of the model in the period; null: no such limit.",
            ),
            Option(name="role", meaning="Role that the budget is for, with its members; null: everyone."),
            Option(
                name="binds_owner",
                type="boolean",
                meaning="Whether the budget also binds members of pgclarify_owner.",
            ),
        ),
        writes=True,
        returns="boolean",
    ),
    Function(
        name="remove_budget",
        summary="Remove a budget; true if there was one.",
        parameters=(
            Parameter("name", "text", "name of the budget"),
            Parameter("corpus", "text", "as in set_budget", "null"),
        ),
        writes=True,
        returns="boolean",
    ),
)
