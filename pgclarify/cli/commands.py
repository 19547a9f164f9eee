"""The commands of `pgclarify`: their modules, and their sentences in the list of commands, in three groups."""

from __future__ import annotations

from pgclarify.cli.asking_commands import ASKING
from pgclarify.cli.deferred import AskingCommand, DeferredCommand

RUN, FILL, ASK = "Run it", "Fill it", "Ask it"

# In the order of the list.
COMMANDS = (
    DeferredCommand("demo", "demo:demo", "Start everything, load two small corpora, ask; safe to repeat.", RUN),
    DeferredCommand("up", "server:up", "Start the server if no URL is set, install, run a worker.", RUN),
    DeferredCommand("down", "server:down", "Stop the detached worker and the embedded server.", RUN),
    DeferredCommand("init", "server:init", "Install the schema, or upgrade it; safe to repeat.", RUN),
    DeferredCommand("install-extension", "extension:install_extension", "Let a server create the extension.", RUN),
    DeferredCommand("worker", "server:worker", "Serve jobs until interrupted; workers share one queue.", RUN),
    DeferredCommand("doctor", "doctor.command:doctor", "Show the installation, check it, and say how to fix it.", RUN),
    DeferredCommand("use", "using:use", "Read passages with a language model: an address, or a .gguf file.", RUN),
    DeferredCommand("dsn", "connection:dsn", 'Print the connection string: psql "$(pgclarify dsn)"', RUN),
    DeferredCommand("load", "loading:load", "Load documents; the same again changes nothing.", FILL),
    DeferredCommand("corpus", "corpora:app", "List corpora and documents, remove and drop them.", FILL),
    DeferredCommand("import-pgai", "importing:import_pgai", "Print the SQL that attaches tables of pgai.", FILL),
    DeferredCommand("ui", "ui:ui", "Ask on a page, see each quote in its document, say what is right.", ASK),
    *(AskingCommand(form, ASK) for form in ASKING),
    DeferredCommand("explain", "explaining:explain", "Show what a run did, and why; --html writes a page.", ASK),
    DeferredCommand("feedback", "feedback:feedback", "Say that an answer is right, wrong, useless or missing.", ASK),
    DeferredCommand("eval", "evaluations:app", "Measure how good answers are, on your own questions.", ASK),
)
