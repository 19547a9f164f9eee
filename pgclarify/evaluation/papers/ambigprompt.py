"""AmbigPrompt: its tables, and our configurations for their rows."""

from __future__ import annotations

from pgclarify.evaluation.papers.tables import SEARCH, Column, Paper, PaperTable, Part, Row

_AMBIG, _WEB = "AmbigQA", "WebQSP"
_MEASURED = (
    "AmbigQA, development set: 2,002 questions, and WebQSP: 1,582, over Wikipedia of 2018; 100 passages; trained "
    "models of 220 million parameters"
)
_DATA_SETS = ("ambigqa", "ambignq", "asqa")
_SEVERAL = "answers=several"
_ALL_IN_ONE = 100_000
# A window has room for one passage of 100 words, as the paper's are, and not for two. A longer passage is cut.
_ONE_EACH = 250
_SMALL = f"a window has {_ONE_EACH} tokens, about one passage, and a longer passage is cut to that"

_COLUMNS = (
    Column("F1", "answer_f1"),
    Column("F1 (multi)", "answer_f1", stratum=_SEVERAL),
    Column("precision", "answer_precision"),
    Column("recall", "answer_recall"),
    Column("answers", "interpretations", "number"),
    Column("calls", "calls", "number"),
)


def _f1(full: float, multi: float) -> tuple[float | None, ...]:
    return (full, multi, None, None, None, None)


TABLE_2 = PaperTable(
    source="Table 2",
    title="Answers to ambiguous questions",
    measured=_MEASURED,
    data_sets=_DATA_SETS,
    needs=(Part.ANSWERS,),
    columns=_COLUMNS,
    rows=(
        Row(
            "FiD-Base",
            "list_at_once",
            {"evidence_tokens": _ALL_IN_ONE},
            {_AMBIG: _f1(45.5, 35.8), _WEB: _f1(52.6, 46.3)},
            note="one pass: a call that reads all passages and lists all answers",
        ),
        Row(
            "AmbigPrompt",
            "list_answers",
            figures={_AMBIG: _f1(48.7, 38.8), _WEB: _f1(53.2, 47.9)},
            note="nothing is trained: the answers so far stand in the prompt, and each answer has to be proven",
        ),
    ),
)

TABLE_3 = PaperTable(
    source="Table 3",
    title="Ablations: answers one by one, and each window or passage by itself",
    measured=_MEASURED,
    data_sets=_DATA_SETS,
    needs=(Part.ANSWERS,),
    columns=_COLUMNS,
    rows=(
        Row("AmbigPrompt", "list_answers", figures={_AMBIG: _f1(48.7, 38.8), _WEB: _f1(53.3, 46.7)}),
        Row(
            "w/o prompting model",
            "list_at_once",
            figures={_AMBIG: _f1(46.0, 34.3), _WEB: _f1(49.7, 44.6)},
            note="each window of passages is asked by itself, and knows the answers of no other; unlike the "
            "paper's, it also gives all answers of a window at once, and proves none",
        ),
        Row(
            "passage by passage, given the answers so far",
            "list_answers",
            {"evidence_tokens": _ONE_EACH},
            note=f"not in the paper; {_SMALL}",
        ),
        Row(
            "each passage by itself (Equation 8)",
            "list_at_once",
            {"evidence_tokens": _ONE_EACH},
            note=f"not in the paper's table: there, such answers are data for training; {_SMALL}",
        ),
    ),
)

TABLE_6 = PaperTable(
    source="Table 6",
    title="Known answers that stand in the first passages",
    measured="AmbigQA, development set: 2,002 questions over Wikipedia of 2018; trained retrievers",
    data_sets=_DATA_SETS,
    needs=(Part.ANSWERS,),
    columns=(Column("MR@1", "mrecall@1"), Column("MR@5", "mrecall@5"), Column("MR@10", "mrecall@10")),
    rows=(
        Row(
            "dense",
            "search",
            {**SEARCH, "method": "dense"},
            {"DPR": (None, 55.2, 59.3), "the paper's, from CoCondenser": (61.7, 56.4, 62.6)},
        ),
        Row("lexical", "search", {**SEARCH, "method": "lexical"}, note="not in the paper"),
        Row(
            "hybrid",
            "search",
            {**SEARCH, "method": "hybrid"},
            note="not in the paper: what the other tables search with",
        ),
    ),
)

AMBIGPROMPT = Paper(
    name="ambigprompt",
    title="Sun et al., Answering Ambiguous Questions via Iterative Prompting (AmbigPrompt)",
    tables=(TABLE_2, TABLE_3, TABLE_6),
    settings={
        "list_answers": {"top_k": 100, "evidence_tokens": 3000, "max_answers": 10},
        "list_at_once": {"top_k": 100, "evidence_tokens": 3000, "max_answers": 10},
    },
    left_out="JPR, RECTIFY, DPR, SpanSeqGen and Refuel (Table 2), which are trained models; without task-adaptive "
    "pre-training and without interleaving (Table 3), since nothing is trained here; reranking (Table 6); single "
    "answers and zero-shot training (Tables 4 and 5).",
)
