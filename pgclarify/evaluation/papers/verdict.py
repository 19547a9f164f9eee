"""VERDICT: its tables, and our configurations for their rows."""

from __future__ import annotations

from pgclarify.evaluation.papers.tables import Column, Paper, PaperTable, Part, Row

_SMALL, _LARGE, _GPT = "LLaMA 3.1 8B", "LLaMA 3.3 70B", "GPT-4o"
_MEASURED = (
    "ASQA, development set: 948 ambiguous questions over Wikipedia; arctic-embed, reranked by gte-Qwen2; judged by a "
    "language model"
)
_DATA_SETS = ("asqa", "ambignq", "squad2")
_OWN_GOLD = (
    "each method is measured against a gold of its own, and the paper's figures do not follow from its equations for "
    "every row"
)

_READINGS = Column("|Q|", "interpretations", "number")
_PRECISION = Column(
    "G-Precision",
    "grounded_precision",
    note="a question without readings counts as 0 here, and the paper's figures probably leave such questions out",
)
_RECALL = Column("G-Recall", "grounded_recall", note=_OWN_GOLD)

TABLE_2 = PaperTable(
    source="Table 2",
    title="Diversity and grounding of readings",
    measured=_MEASURED,
    data_sets=_DATA_SETS,
    needs=(Part.ANSWERS,),
    columns=(
        _READINGS,
        Column("Sufficient %", "sufficient", note="the paper does not say how many readings suffice"),
        Column("Recall", "recall"),
        _PRECISION,
        _RECALL,
        Column("G-F1", "grounded_f1", note="it is made of G-Recall"),
    ),
    rows=(
        Row(
            "DtV",
            "dtv",
            figures={
                _SMALL: (1.36, 0.21, 21.36, 83.72, 8.14, 14.84),
                _LARGE: (2.06, 5.60, 32.44, 69.89, 36.55, 48.00),
                _GPT: (1.73, 3.80, 25.57, 72.34, 29.38, 41.79),
            },
            note="the paper verifies with GPT-4o, whatever model proposes; here one model does both, unless "
            "--set verifier=MODEL names another one of the endpoint",
        ),
        Row(
            "DtV - Verification",
            "dtv_unverified",
            figures={
                _SMALL: (2.26, 1.37, 40.24, 52.75, 44.43, 48.23),
                _LARGE: (3.68, 34.73, 47.23, 46.25, 52.16, 49.03),
                _GPT: (3.07, 19.51, 45.39, 51.35, 49.85, 50.59),
            },
        ),
        Row(
            "RAC",
            "rac",
            figures={
                _SMALL: (0.93, 8.09, 11.40, 84.27, 17.43, 28.89),
                _LARGE: (3.78, 57.81, 45.27, 76.71, 50.29, 60.75),
                _GPT: (2.12, 15.42, 23.43, 84.79, 36.57, 51.10),
            },
        ),
        Row(
            "VERDICT",
            "clarify",
            figures={
                _SMALL: (3.78, 23.76, 36.76, 61.51, 54.77, 57.94),
                _LARGE: (3.70, 24.21, 36.66, 81.50, 58.04, 67.80),
                _GPT: (3.16, 21.49, 37.41, 92.82, 57.25, 70.82),
            },
            note="clarify as it is: it checks quotes, and groups readings by its own rules",
        ),
        Row(
            "Human interpretations",
            "human",
            figures={"people": (3.36, 22.02, None, 65.47, None, None)},
            note="nothing that people know is held against itself",
        ),
    ),
)

TABLE_4 = PaperTable(
    source="Table 4",
    title="Ways to group readings, and checks of them",
    measured=f"{_MEASURED}; {_LARGE}",
    data_sets=_DATA_SETS,
    needs=(Part.ANSWERS,),
    columns=(_READINGS, _PRECISION, _RECALL, Column("answers covered", "answer_coverage")),
    rows=(
        Row("Default, f(q; y)", "clarify", figures={_LARGE: (3.70, 81.50, 58.04, None)}),
        Row(
            "Conservative",
            "clarify",
            {"consolidation": "conservative"},
            {_LARGE: (2.41, 82.40, 50.72, None)},
            note="two thirds of the groups at most; the paper does not say how it favours fewer",
        ),
        Row(
            "f(q)",
            "clarify",
            {"embed": "question"},
            {_LARGE: (3.65, 78.21, 57.27, None)},
            note="the vectors are those of questions alone; the answers still decide which readings can be one",
        ),
        Row(
            "HDBSCAN alone",
            "clarify",
            {"consolidation": "hdbscan", "singletons": "drop"},
            note="readings that stand in one document are left out, those that HDBSCAN calls noise among them; if that "
            "would leave none, all stay",
        ),
        Row("no check of quotes", "clarify", {"verify": "none"}, note="ours: the paper does not check quotes"),
        Row("quotes, and a second look by the model", "clarify", {"verify": "model"}, note="ours", takes_model=True),
    ),
)

FIGURE_3 = PaperTable(
    source="Figure 3",
    title="Errors of readings and answers",
    measured=_MEASURED,
    data_sets=_DATA_SETS,
    needs=(Part.ANSWERS,),
    columns=(
        Column("answers correct", "answer_correctness"),
        Column("relevant, answerable", "relevant_answerable"),
        Column("relevant, unanswerable", "relevant_unanswerable"),
        Column("irrelevant, answerable", "irrelevant_answerable"),
        Column("irrelevant, unanswerable", "irrelevant_unanswerable"),
    ),
    rows=(
        Row(
            "VERDICT",
            "clarify",
            figures={
                _SMALL: (92.0, None, None, None, None),
                _LARGE: (98.0, None, None, None, None),
                _GPT: (99.0, None, None, None, None),
            },
            note="the paper shows the other shares in a picture, and prints no figures",
        ),
    ),
    judge="model",
)

VERDICT = Paper(
    name="verdict",
    title="Lee et al., Agentic Verification for Ambiguous Query Disambiguation (VERDICT)",
    tables=(TABLE_2, TABLE_4, FIGURE_3),
    settings={
        "clarify": {"top_k": 20},
        "rac": {"top_k": 20},
        "dtv": {"passages_each": 5, "passages_kept": 5, "verifier": None},
        "dtv_unverified": {"passages_each": 5, "passages_kept": 5},
    },
    left_out="Three models side by side: an evaluation has one model, that of the worker.",
)
