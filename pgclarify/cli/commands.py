"""The commands of `pgclarify`: their modules, and their sentences in the list of commands."""

from __future__ import annotations

from pgclarify.cli.deferred import DeferredCommand

# For commands that start another program: all options are passed to it, even `-h`.
_PROGRAM = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": ["--help"]}

# In the order of the list. A test compares each sentence with the docstring of its command.
COMMANDS = (
    DeferredCommand(
        "demo", "demo:demo", "Start everything, load two small corpora, ask vague questions; safe to repeat."
    ),
    DeferredCommand("up", "server:up", "Start the embedded server if no URL is set, install the schema, run a worker."),
    DeferredCommand("down", "server:down", "Stop the detached worker and the embedded server."),
    DeferredCommand("load", "loading:load", "Load documents into a corpus. Loading the same again changes nothing."),
    DeferredCommand("corpora", "documents:corpora", "Show the corpora that you may search, and their state."),
    DeferredCommand(
        "documents",
        "documents:documents",
        "Show the documents of a corpus that you may read, by id, and where each comes from.",
    ),
    DeferredCommand(
        "remove", "documents:remove", "Remove documents from a corpus, at once. Citations of them keep their quotes."
    ),
    DeferredCommand("drop", "documents:drop", "Drop a corpus with its documents. Runs on it stay, with their quotes."),
    DeferredCommand(
        "erase",
        "erasing:erase",
        "Remove a document and erase all text that comes from it: passages, quotes, readings, answers, replies.",
    ),
    DeferredCommand(
        "distribute",
        "distributing:distribute",
        "Experimental: spread the passages and vectors of a corpus over the nodes of a Citus cluster.",
    ),
    DeferredCommand("ask", "asking:ask", "Ask a vague question; get the readings that documents answer."),
    DeferredCommand(
        "ask-back",
        "asking_back:ask_back",
        "Ask clarifying questions about a vague question that the corpus can answer. It needs a language model.",
    ),
    DeferredCommand(
        "list",
        "listing:list_answers",
        "List all answers of a question, one by one, each with its proof. It needs a language model.",
    ),
    DeferredCommand(
        "detect",
        "detecting:detect",
        "Say whether one question, or each of many, is ambiguous, and why. It needs no language model.",
    ),
    DeferredCommand(
        "rewrite",
        "detecting:rewrite",
        "Rewrite a question, using the earlier turns, so that it stands alone. A clear question is not changed.",
    ),
    DeferredCommand(
        "estimate", "estimating:estimate", "Estimate what questions would cost. No language model is called."
    ),
    DeferredCommand(
        "investigate",
        "investigating:investigate",
        "Split a question into steps, answer each step, and prove the answer. It needs a language model.",
    ),
    DeferredCommand(
        "explain",
        "explaining:explain",
        "Show what a run did: where it spent time and calls, how it found each passage, why it stopped.",
    ),
    DeferredCommand(
        "report", "reporting:report", "Write what a run found and did as one HTML page, which needs no network."
    ),
    DeferredCommand(
        "status",
        "status:status",
        "Show the server, workers, queue, corpora, attached tables, tight budgets, the last runs, and what went wrong.",
    ),
    DeferredCommand(
        "doctor",
        "doctor.command:doctor",
        "Check the installation, and say how to fix what is missing or wrong; the exit code is then 1.",
    ),
    DeferredCommand(
        "grant", "granting:grant", "Let a role read, ask or analyze a corpus. Prints the SQL statements of it."
    ),
    DeferredCommand(
        "revoke", "granting:revoke", "Revoke what grant has granted on a corpus. Prints the SQL statements of it."
    ),
    DeferredCommand("init", "server:init", "Install the schema, or upgrade it. Safe to repeat."),
    DeferredCommand("worker", "server:worker", "Serve jobs until interrupted; any number of workers share one queue."),
    DeferredCommand(
        "psql",
        "programs:psql",
        "Open psql on the database in use: preferably the system's, because the embedded one has no line editing.",
        context_settings=_PROGRAM,
    ),
    DeferredCommand(
        "pg_dump",
        "programs:pg_dump",
        "Dump the database in use, by the embedded server's pg_dump if there is one; all options are pg_dump's own.",
        context_settings=_PROGRAM,
    ),
    DeferredCommand(
        "pg_dumpall",
        "programs:pg_dumpall",
        "Dump the server in use, or its roles alone; all options are pg_dumpall's own.",
        context_settings=_PROGRAM,
    ),
    DeferredCommand("dsn", "server:dsn", "Print the connection string of the database in use."),
    DeferredCommand(
        "dbt-package", "server:dbt_package", "Print the folder of the dbt package, for packages.yml of a dbt project."
    ),
    DeferredCommand("graph", "graph:app", "Build or check the graph of passages that are near each other."),
    DeferredCommand("eval", "evaluations:app", "Measure how good answers are, on your own questions."),
)
