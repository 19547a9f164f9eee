"""AT-CoT: its tables, and our configurations for their rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pgclarify.dialogue import MOST_TURNS
from pgclarify.evaluation.papers.tables import SEARCH, Column, Figures, Paper, PaperTable, Part, Row

_QULAC, _CLARIQ, _RAO = "Qulac", "ClariQ", "RaoCQ"
_WEB_09, _WEB_13, _HARD = "TREC Web Track 2009-2012", "TREC Web Track 2013-2014", "TREC DL Hard"
_SCHEMES = {"standard": "STANDARD", "at_standard": "AT-STANDARD", "cot": "CoT", "at_cot": "AT-CoT"}
_MODEL = "Llama 3 8B in four bits"
_COSINES = "the paper has BERTScore over a larger model; here it is greedy matching of sentence embeddings"

_ASKED_BACK = {
    "standard": (77.9, 79.3, 60.0),
    "at_standard": (77.0, 78.8, 59.9),
    "cot": (79.2, 80.0, 60.5),
    "at_cot": (80.6, 82.0, 62.4),
}

TABLE_5 = PaperTable(
    source="Table 5",
    title="Clarifying questions beside those of people",
    measured=f"Qulac, 198 queries; ClariQ, 298; RaoCQ, 500; {_MODEL}",
    data_sets=("qulac", "clariq", "raocq"),
    needs=(Part.QUESTIONS,),
    columns=(
        Column("F1", "question_f1", note=_COSINES),
        Column("precision", "question_precision"),
        Column("recall", "question_recall"),
        Column("diversity", "question_diversity"),
        Column("asked back", "asked_back", "number"),
    ),
    rows=(
        *(
            Row(
                _SCHEMES[scheme],
                "clarifying_questions",
                {"scheme": scheme},
                {
                    data_set: (figure, None, None, None, None)
                    for data_set, figure in zip((_QULAC, _CLARIQ, _RAO), figures, strict=True)
                },
            )
            for scheme, figures in _ASKED_BACK.items()
        ),
        Row("types without reasoning", "clarifying_questions", {"scheme": "at_types"}, note="not in the paper"),
        Row(
            "AT-CoT with examples",
            "clarifying_questions",
            {"scheme": "at_cot", "examples": True},
            note="not in the paper: with examples, as by default; nothing is checked here",
        ),
    ),
    searches=False,
)

# Figures of turns 1 to 3 by scheme, for each of the two forms on each of the three data sets.
_TURNS = {
    "standard": (
        (0.161, 0.232, 0.336, 0.387, 0.060, 0.120),
        (0.152, 0.223, 0.307, 0.379, 0.054, 0.127),
        (0.141, 0.212, 0.295, 0.371, 0.056, 0.141),
    ),
    "at_standard": (
        (0.165, 0.230, 0.337, 0.383, 0.066, 0.113),
        (0.149, 0.228, 0.291, 0.376, 0.052, 0.151),
        (0.149, 0.213, 0.276, 0.367, 0.051, 0.154),
    ),
    "cot": (
        (0.174, 0.238, 0.341, 0.392, 0.063, 0.123),
        (0.160, 0.226, 0.310, 0.384, 0.062, 0.174),
        (0.148, 0.216, 0.300, 0.373, 0.054, 0.184),
    ),
    "at_cot": (
        (0.188, 0.244, 0.347, 0.397, 0.074, 0.125),
        (0.176, 0.233, 0.320, 0.391, 0.071, 0.184),
        (0.152, 0.213, 0.305, 0.381, 0.052, 0.188),
    ),
}
_FORMS = ("select", "respond")
# Before the first turn, the form makes no difference.
_UNASKED = {_WEB_09: 0.123, _WEB_13: 0.277, _HARD: 0.084}


def _of_turns(title: str, metric: str, data_sets: Sequence[str]) -> PaperTable:
    """Return Table 8 for one metric. Each data set of the paper has its own metric."""
    turns = range(MOST_TURNS + 1)
    return PaperTable(
        source="Table 8",
        title=f"What a search finds after each turn with a simulated user, by {title}",
        measured="TREC Web Track 2009-2012 over ClueWeb09, 2013-2014 over ClueWeb12 (nDCG@10), and TREC DL Hard over "
        f"MS MARCO (MRR@10); BM25, reranked by MonoT5; {_MODEL}, which plays the user, too",
        data_sets=("squad2", "abg-coqa-users"),
        needs=(Part.INTENT, Part.DOCUMENTS),
        columns=tuple(Column(f"turn {turn}", f"turn_{turn}_{metric}", "share") for turn in turns),
        rows=(
            Row(
                "without clarification",
                "search",
                SEARCH,
                figures={one: (_UNASKED[one], None, None, None) for one in data_sets},
                metrics={f"turn_0_{metric}": metric},
            ),
            *(
                Row(
                    f"{name}, {form}",
                    "simulated_user",
                    {"scheme": scheme, "form": form},
                    _figures(scheme, form, data_sets),
                )
                for form in _FORMS
                for scheme, name in _SCHEMES.items()
            ),
            Row(
                "AT-CoT, respond, checked",
                "simulated_user",
                {"scheme": "at_cot", "form": "respond", "check": "drop", "examples": True},
                note="not in the paper: with examples, and only what a document answers is asked back, as "
                "clarifying_questions does unless it is told otherwise",
            ),
        ),
    )


def _figures(scheme: str, form: str, data_sets: Sequence[str]) -> Mapping[str, Figures]:
    places = {one: 2 * place + _FORMS.index(form) for place, one in enumerate((_WEB_09, _WEB_13, _HARD))}
    return {one: (None, *(turn[places[one]] for turn in _TURNS[scheme])) for one in data_sets}


_AS_IN_THE_PAPER: Mapping[str, Any] = {"check": "none", "examples": False}

AT_COT = Paper(
    name="at-cot",
    title="Tang, Soulier and Guigue, Clarification des ambiguïtés : sur le rôle des types d'ambiguïté dans les "
    "méthodes d'amorçage pour la génération de clarifications (AT-CoT)",
    tables=(
        TABLE_5,
        _of_turns("nDCG@10", "ndcg@10", (_WEB_09, _WEB_13)),
        _of_turns("MRR@10", "mrr@10", (_HARD,)),
    ),
    settings={
        "clarifying_questions": {**_AS_IN_THE_PAPER, "count": 5},
        "simulated_user": _AS_IN_THE_PAPER,
    },
    left_out="ClariQ by levels of ambiguity (Table 6), and how often each type is predicted (Table 7). TREC's "
    "documents are licensed by their owners; bring them as a data set of your own.",
)
