"""SUNAR: its tables, and our configurations for their rows."""

from __future__ import annotations

from dataclasses import replace

from pgclarify.evaluation.papers.tables import SEARCH, Column, Paper, PaperTable, Part, Row

_MQA, _WQA = "MuSiQue", "2WikiMultiHopQA"
_MEASURED = (
    "MuSiQue, 1,252 questions of two hops, whose figures stand in the columns of two hops, and 2WikiMultiHopQA, 1,200 "
    "questions, over 569,461 documents; SPLADE-v2, a graph by ColBERTv2"
)
_MODEL = "gpt-3.5-turbo"
_DATA_SETS = ("musique", "2wikimultihopqa")
_RERANKED = {"retrieval": "fixed", "penalty": False, "reasoner": False}
_POOLED = (
    "the paper does not say how the rankings of sub-questions are put together; here those of all steps are pooled"
)

_SCORES = "passages are scored by the signals of the search; the paper scores them by a cross-encoder"
_RELEVANT = "the paper's nDCG and recall cannot both be over the two documents that a question of two hops needs"
_WITH_SAMPLES = f"here with budget 32 and samples 5, unless --set changes them; {_SCORES}"
_WITHOUT_SAMPLES = f"here with budget 32, unless --set changes it; {_SCORES}"


def _and_of_two_hops(column: Column) -> tuple[Column, Column]:
    """Return a column over all questions, and one over questions of two hops, the only ones of MuSiQue in the paper."""
    return column, replace(column, title=f"{column.title} (2 hops)", stratum="hops=2")


_COVER_EM = Column("cover-EM", "cover_em")

TABLE_1 = PaperTable(
    source="Tables 1 and 9",
    title="Answers to questions of several hops",
    measured=f"{_MEASURED}; {_MODEL}",
    data_sets=_DATA_SETS,
    needs=(Part.ANSWERS,),
    columns=(*_and_of_two_hops(_COVER_EM), Column("calls", "calls", "number")),
    rows=(
        Row(
            "FEW-SHOT-COT",
            "one_pass",
            figures={_MQA: (None, 15.02, None), _WQA: (32.83, None, None)},
            note="retrieval without query understanding: one search and one call",
        ),
        Row(
            "SUNAR_R, without query understanding",
            "investigate",
            {"max_steps": 0, "penalty": False, "reasoner": False},
            {_MQA: (None, 21.32, None), _WQA: (40.96, None, None)},
            note=_WITHOUT_SAMPLES,
        ),
        Row("SELF-ASK", "self_ask", figures={_MQA: (None, 24.84, None), _WQA: (45.75, None, None)}),
        Row(
            "SELF-ASK (Re-Rank), Table 9",
            "investigate",
            _RERANKED,
            {_MQA: (None, 24.84, None), _WQA: (45.83, None, None)},
            note="investigate without its graph, its penalty and its last look; unlike SELF-ASK here, it "
            f"checks quotes, and refuses a follow-up question that was asked before; {_SCORES}",
        ),
        Row(
            "SUNAR_R",
            "investigate",
            {"penalty": False, "reasoner": False},
            {_MQA: (None, 28.11, None), _WQA: (47.67, None, None)},
            note=_WITHOUT_SAMPLES,
        ),
        Row("SUNAR", "investigate", figures={_MQA: (None, 32.75, None), _WQA: (54.83, None, None)}, note=_WITH_SAMPLES),
    ),
)

TABLE_4 = PaperTable(
    source="Table 4",
    title="Ablations of SUNAR",
    measured=f"{_MEASURED}; {_MODEL}",
    data_sets=_DATA_SETS,
    needs=(Part.ANSWERS,),
    columns=(*_and_of_two_hops(_COVER_EM), Column("calls", "calls", "number")),
    rows=(
        Row("SUNAR", "investigate", figures={_MQA: (None, 32.75, None), _WQA: (54.83, None, None)}, note=_WITH_SAMPLES),
        Row(
            "SUNAR (-ASU)",
            "investigate",
            {"penalty": False},
            {_MQA: (None, 30.43, None), _WQA: (50.75, None, None)},
            note=_WITHOUT_SAMPLES,
        ),
        Row(
            "SUNAR_R (-ASU) (-MER)",
            "investigate",
            {"penalty": False, "reasoner": False},
            {_MQA: (None, 28.11, None), _WQA: (47.67, None, None)},
            note=_WITHOUT_SAMPLES,
        ),
        Row("SUNAR (-MER)", "investigate", {"reasoner": False}, note="not in the paper"),
        Row(
            "without neighborhood-aware retrieval",
            "investigate",
            {"retrieval": "fixed"},
            note="not in the paper, which leaves it out together with ASU and MER",
        ),
        Row("without decomposition", "investigate", {"max_steps": 0}, note="not in the paper"),
    ),
)

TABLE_5 = PaperTable(
    source="Table 5",
    title="What is found, with query understanding",
    measured=f"{_MEASURED}; {_MODEL}",
    data_sets=_DATA_SETS,
    needs=(Part.DOCUMENTS,),
    columns=(
        *_and_of_two_hops(Column("R@10", "recall@10", "share", note=_POOLED)),
        Column("R@10 of a step", "step_recall@10", "share"),
        Column("MRR@10 of a step", "step_mrr@10", "share"),
    ),
    rows=(
        Row(
            "SELF-ASK (Re-Rank)",
            "investigate",
            _RERANKED,
            {_MQA: (None, 0.309, None, None), _WQA: (0.402, None, None, None)},
            note=_SCORES,
        ),
        Row(
            "SELF-ASK (Retrieval)",
            "self_ask",
            figures={_MQA: (None, 0.240, None, None), _WQA: (0.399, None, None, None)},
        ),
        Row(
            "SUNAR",
            "investigate",
            figures={_MQA: (None, 0.459, None, None), _WQA: (0.606, None, None, None)},
            note=_WITH_SAMPLES,
        ),
    ),
)

TABLE_7 = PaperTable(
    source="Tables 7 and 8",
    title="What is found, without query understanding",
    measured=f"{_MEASURED}; no language model",
    data_sets=_DATA_SETS,
    needs=(Part.DOCUMENTS,),
    columns=(
        *_and_of_two_hops(Column("nDCG@10", "ndcg@10", "share", note=_RELEVANT)),
        *_and_of_two_hops(Column("R@10", "recall@10", "share", note=_RELEVANT)),
    ),
    rows=(
        Row(
            "SPLADEv2",
            "search",
            {**SEARCH, "method": "lexical"},
            {_MQA: (None, 0.155, None, 0.062), _WQA: (0.251, None, 0.186, None)},
            note="a sparse search: BM25 here",
        ),
        Row(
            "MPNet, Table 8",
            "search",
            {**SEARCH, "method": "dense"},
            {_MQA: (None, 0.163, None, None), _WQA: (0.222, None, None, None)},
            note="a dense search: the corpus's embedding model here",
        ),
        Row(
            "SUNAR_R, search alone",
            "search",
            {**SEARCH, "method": "adaptive"},
            {_MQA: (None, 0.179, None, 0.073), _WQA: (0.297, None, 0.216, None)},
            note=_SCORES,
        ),
        Row(
            "hybrid search",
            "search",
            {**SEARCH, "method": "hybrid"},
            note="ours: what all rows of the other tables search with",
        ),
    ),
)

SUNAR = Paper(
    name="sunar",
    title="Venktesh, Rathee and Anand, SUNAR: Semantic Uncertainty based Neighborhood Aware Retrieval for Complex QA",
    tables=(TABLE_1, TABLE_4, TABLE_5, TABLE_7),
    settings={
        "investigate": {
            "top_k": 10,
            "budget": 32,
            "batch": 16,
            "samples": 5,
            "max_steps": 4,
            "max_calls": 60,
            "reranker": "signal",
        },
        "self_ask": {"top_k": 10, "max_steps": 4},
        "one_pass": {"top_k": 10},
    },
    left_out="ZERO-SHOT-COT, Self-RAG, ReAct, Decomp, IRCoT, SearChain and PRF, and the golden evidence (Table 1); R@1 "
    "(Table 5); SUNAR within other approaches (Table 2) and with other models (Table 3). The authors' code "
    "scores 100 passages in batches of 16 and draws 10 answers for each batch, as with --set "
    "budget=100 --set samples=10 --set max_calls=400; the paper does not say.",
)
