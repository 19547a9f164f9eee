"""Functions of runs: submitting, waiting, reading."""

from __future__ import annotations

from typing import Final

from pgclarify.declared.clarify import CLARIFICATION
from pgclarify.declared.columns import RUN_ID, STOP_CODE
from pgclarify.declared.forms import Column, Function, Option, Parameter, Rows
from pgclarify.declared.operations import OPERATIONS
from pgclarify.declared.parameters import CORPUS, TIMEOUT

RUN_OUTCOME: Final = Rows(
    name="run_outcome",
    meaning="The state of a run: a row of wait.",
    columns=(
        RUN_ID,
        Column("status", "text", "Its state; queued or running if the timeout came first.", record_type="RunStatus"),
        Column("error", "text", "Why it failed; null unless it did.", null=True),
        Column(
            "interpretations",
            "integer",
            "Number of readings found; 0 means that none was found, and stop_code says why. Null unless succeeded or "
            "partial, and for operations without readings, such as investigations.",
            null=True,
        ),
        Column(
            "stop_reason",
            "text",
            "Why it stopped early; null if it did not, or is not over.",
            null=True,
            default="None",
        ),
        Column(
            "cost_usd",
            "numeric",
            "What it cost, in US dollars: 0 if it paid for no call; null if the cost of a call is unknown, or before "
            "its end.",
            null=True,
            default="None",
        ),
        STOP_CODE,
        Column(
            "error_code",
            "text",
            "Why it failed, as a SQLSTATE that docs/errors.md lists; for a partial run, why calls failed; else null.",
            null=True,
            default="None",
        ),
    ),
    record="RunOutcome",
    record_base="Ending",
)

_RUN: Final = Parameter("run_id", "bigint")

RUNS: Final = (
    Function(
        name="submit",
        summary="Start an operation without waiting. Returns the run id, for wait, result and cancel. The run is part "
        "of this transaction: a worker sees it once it commits.",
        parameters=(
            Parameter("operation", "text", f"{', '.join([*OPERATIONS][:-1])} or {[*OPERATIONS][-1]}"),
            Parameter("question", "text", "for the operations that have one", "null"),
            CORPUS,
            Parameter(
                "options",
                "jsonb",
                "those of the operation, without timeout, and its further parameters, for example top_k, history or "
                "run_id",
                "'{}'",
            ),
        ),
        writes=True,
        returns="bigint",
    ),
    Function(
        name="submit_many",
        summary="Ask many questions without waiting. Returns the run of each, in the order of the questions; equal "
        "questions share one, and up to 500 questions of detect_ambiguity do. The runs are part of this transaction: "
        "workers see them once it commits. Parameters as in submit; the operation must have a question. Option "
        "filters, for operations that search: an array with a filter for each question, or null.",
        parameters=(
            Parameter("operation", "text"),
            Parameter("questions", "text[]"),
            CORPUS.but(meaning=""),
            Parameter("options", "jsonb", "", "'{}'"),
        ),
        writes=True,
        returns="bigint[]",
    ),
    Function(
        name="wait",
        summary="Wait until the runs are over or the timeout has passed, and return the state of each: interpretations "
        "= 0 means that no reading was found, and stop_code says why.",
        parameters=(
            Parameter("run_ids", "bigint[]", "from submit, committed"),
            TIMEOUT.but(meaning="null means no limit"),
        ),
        returns=RUN_OUTCOME,
        is_set=True,
        remark="A single run that was submitted alone goes before batches until this session waits for another run or "
        "ends. Cancelling this call does not cancel the runs. Error PC001 if no worker has been alive for half a "
        "minute: the runs continue when one starts.",
    ),
    Function(
        name="result",
        summary="The readings that a run found; no row if it found none (its stop_code says why). Error 55000 if it is "
        "not over, PC003 if it failed or was cancelled; a warning if it is partial.",
        parameters=(
            _RUN.but(meaning="from submit, or any clarification that you may see"),
            Parameter(
                "include",
                "text",
                "certain, likely or all: how sure the readings are, of those that were read; by default those that the "
                "run shows",
                "null",
                since="0.4.0",
            ),
        ),
        returns=CLARIFICATION,
        is_set=True,
        expected_rows=5,
        grantee="pgclarify_reader",
        calls="result_rows",
        passes=("result.run_id", "'clarification'", "result.include"),
    ),
    Function(
        name="cancel",
        summary="Cancel runs, and return how many were not over already. All or none: it is an error if one of them is "
        "not yours. Calls in flight are stopped; replies that were paid for are kept.",
        parameters=(Parameter("run_ids", "bigint[]", "yours, from submit"),),
        writes=True,
        returns="integer",
    ),
    Function(
        name="explain",
        summary="What a run did, one line in each row, as a tree: each stage with its time, calls and tokens; each "
        "passage, how it was found and the verdict on it; why it stopped, and what it cost.",
        parameters=(_RUN.but(meaning="any run that you may see, even if it is not over"),),
        options=(
            Option(
                name="detail",
                choices=("passages", "stages"),
                default="passages",
                meaning="How much is shown; stages is the shortest.",
            ),
        ),
        returns="text",
        is_set=True,
        expected_rows=50,
        volatility="stable",
        grantee="pgclarify_reader",
    ),
    Function(
        name="help",
        summary="The functions, or the parameters and options of one.",
        parameters=(Parameter("topic", "text", "name of a function; null lists all, with one sentence each", "null"),),
        returns="table (\n    name text, kind text, type text, default_value text, minimum text, maximum text, "
        "choices text[], meaning text\n)",
        is_set=True,
        expected_rows=40,
        volatility="stable",
        grantee="pgclarify_reader",
        remark="A row of an option has its type, default, range or choices, and when to change it.",
    ),
)
