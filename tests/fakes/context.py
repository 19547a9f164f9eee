"""The context of operations, made of fakes."""

from __future__ import annotations

from types import EllipsisType
from typing import cast

from pgclarify.algorithms.ambiguity import AmbiguityClassifier
from pgclarify.data.runs import Run
from pgclarify.database.dialogue import DialogueTables
from pgclarify.database.exploration import ExplorationTables
from pgclarify.database.run_tables import RunTables
from pgclarify.errors import ModelNotFound
from pgclarify.operations.context import Models, RunContext
from pgclarify.operations.detector import Detector
from pgclarify.operations.investigation.entailment import Entailments
from pgclarify.operations.judging.room import JudgingRoom
from pgclarify.operations.retrieval.reranking import Rerankers
from pgclarify.protocols import Completer, CrossEncoder, Embedder, PassageReader, SpanReader
from tests.fakes.classifier import FakeClassifier
from tests.fakes.completer import ScriptedCompleter
from tests.fakes.dialogue import FakeDialogueStore
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.exploration import FakeExplorationStore
from tests.fakes.store import FakeStore


def context_of(
    run: Run,
    store: RunTables,
    completer: Completer | None = None,
    *,
    chat: Completer | EllipsisType | None = ...,
    passages: ExplorationTables | None = None,
    dialogue: DialogueTables | None = None,
    embedder: Embedder | None = None,
    reader: SpanReader | None = None,
    rerankers: Rerankers | None = None,
    entailments: Entailments | None = None,
    detector: Detector | None = None,
    classifier: AmbiguityClassifier | None = None,
) -> RunContext:
    """Make the context for the operation of a run.

    Args:
        run: The run.
        store: The store of the run. With a real store, pass the other stores of the operation, too.
        completer: The judge. The default has no replies.
        chat: The language model. The default is the completer.
        passages: The passages to find. The default are those of the store.
        dialogue: The store of rules and conversations.
        embedder: Used for each embedding model.
        reader: By default no reader confirms verdicts.
        rerankers: By default there is no cross-encoder, and the language model is not called.
        entailments: The same default as for rerankers.
        detector: The default uses the classifier.
        classifier: The classifier of the detector. The default finds no question ambiguous.
    """
    completer = completer or ScriptedCompleter({})
    model = embedder or FakeEmbedder()
    fake = cast(FakeStore, store)

    async def get_embedder(_: str) -> Embedder:
        return model

    async def get_reader() -> PassageReader:
        return cast(PassageReader, reader)

    return RunContext(
        run,
        store,
        passages or FakeExplorationStore(fake),
        dialogue or FakeDialogueStore(fake),
        Models(
            completer=completer,
            chat=completer if chat is ... else chat,
            embedder=get_embedder,
            reading_embedder=get_embedder,
            reader=None if reader is None else get_reader,
            rerankers=rerankers or Rerankers(None, no_cross_encoder),
            entailments=entailments or Entailments(None, no_cross_encoder),
            detector=detector or Detector(classifier or FakeClassifier(), get_embedder),
            room=JudgingRoom(1000),
        ),
    )


async def no_cross_encoder(name: str) -> CrossEncoder:
    """Raise for each name: there is no cross-encoder.

    Raises:
        ModelNotFound: Always.
    """
    raise ModelNotFound(f"there is no model {name}")
