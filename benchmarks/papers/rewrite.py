"""Detect, then rewrite (summary), Key Results: python -m benchmarks.papers.rewrite DATA_DIR cast CORPUS.

BLEU against what people wrote, and what a search finds, after rewriting nothing, everything, or what a detector calls
ambiguous; and the detectors alone. The paper's detector is a small network over the vector of the question and three
features; it is trained on DATA_SET.training.questions, and so is the logistic regression. A network depends on the
random numbers that it begins with, so the row that only detects trains ten: column "F1" is their mean, and the next two
are those of the worst and of the best. The rows that rewrite have the first of these networks. Three constants show
what a detector is worth: each question is ambiguous, none is, and each but the first of a conversation. The paper's
rules are about the names of one company's objects, so there are none here. The row "ours, trained alike" needs the file
that

    python -m training.train_ambiguity_classifier SOURCE --part training --output DATA_DIR/classifier.npz

writes from clamber and abg-coqa; the classifier that ships, of the rows "rewrite" and "detect_ambiguity", was trained
on all of these. No classifier was trained on cast. The paper's figures are of its own data: F1 of detection, and BLEU.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.papers import Column, Data, Floats, Row, Scored, Values, each, line_of, main, read_data
from benchmarks.prompts.dialogue import ambiguity
from pgclarify.algorithms.ambiguity import AmbiguityClassifier
from pgclarify.algorithms.ambiguity.wording import coleman_liau, take_apart
from pgclarify.algorithms.metrics import f1s_of_labels
from pgclarify.data.runs import Tally
from pgclarify.database.evaluations import EvaluatedCase
from pgclarify.embedding import LocalEmbedder, load_embedder
from pgclarify.errors import InvalidReply
from pgclarify.evaluation.baselines import Asked, Baseline, ask
from pgclarify.evaluation.bench import Bench
from pgclarify.evaluation.records import Case, Method, Output
from pgclarify.prompts.rewriting import rewriting

if TYPE_CHECKING:
    from sklearn.neural_network import MLPClassifier

# scikit-learn and SacreBLEU take a second to import, which those who only read the tables do not need.
Detector = Callable[[Case], Awaitable[bool]]


async def _embedder() -> LocalEmbedder:
    return await asyncio.to_thread(load_embedder, AmbiguityClassifier.embedding_model)


async def three_features(embedder: LocalEmbedder, questions: Sequence[str]) -> NDArray[np.float32]:
    """Return the vector of each question, its words, its words that refer, and its Coleman-Liau index, in columns.

    Source: Detect, then rewrite (summary), Method Summary.
    """
    wordings = [take_apart(one, ()) for one in questions]
    features = [[len(one.words), len(one.referential), coleman_liau(one.question)] for one in wordings]
    return np.hstack([await embedder.encode(questions), np.array(features, dtype=np.float32)])


async def trained(data: Data, *models: Any) -> list[Detector]:
    """Train models on the training half of the data set. Source: Detect, then rewrite (summary), Method Summary."""
    embedder = await _embedder()
    rows = read_data(data.folder, f"{data.cases.name}.training").cases.cases
    vectors = await three_features(embedder, [row.question for row in rows])
    labels = [bool(row.is_ambiguous) for row in rows]
    # Several models look at each question.
    known: dict[str, NDArray[np.float32]] = {}

    async def features(question: str) -> NDArray[np.float32]:
        if question not in known:
            known[question] = await three_features(embedder, [question])
        return known[question]

    def detector_of(fitted: Any) -> Detector:
        async def detect(case: Case) -> bool:
            return bool(fitted.predict(await features(case.question))[0])

        return detect

    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    pipelines = [make_pipeline(StandardScaler(), model) for model in models]
    return [detector_of(await asyncio.to_thread(one.fit, vectors, labels)) for one in pipelines]


def _network(seed: int) -> MLPClassifier:
    from sklearn.neural_network import MLPClassifier

    return MLPClassifier(hidden_layer_sizes=(64,), alpha=1.0, max_iter=500, random_state=seed)


async def by_network(data: Data) -> Detector:
    """The paper's detector: one hidden layer."""
    return (await trained(data, _network(0)))[0]


async def by_regression(data: Data) -> Detector:
    """The paper's baseline."""
    from sklearn.linear_model import LogisticRegression

    return (await trained(data, LogisticRegression(C=0.001, max_iter=2_000, class_weight="balanced")))[0]


async def by_ours(data: Data) -> Detector:
    """Our classifier, trained on the same half of clamber and abg-coqa."""
    embedder = await _embedder()
    classifier = AmbiguityClassifier((data.folder / "classifier.npz").read_bytes())

    async def detect(case: Case) -> bool:
        vectors = await embedder.encode(classifier.inputs(case.question, case.history))
        (judged,) = classifier.judge([(case.question, case.history)], vectors)
        return judged.probability >= classifier.threshold

    return detect


async def constant(data: Data, *, calls: Callable[[Case], bool]) -> Detector:
    """A detector that does not read the question."""

    async def detect(case: Case) -> bool:
        return calls(case)

    return detect


DETECTORS: Final[Mapping[str, Callable[[Data], Awaitable[Detector]]]] = {
    "network": by_network,
    "logistic regression": by_regression,
    "ours": by_ours,
    "always": partial(constant, calls=lambda _: True),
    "never": partial(constant, calls=lambda _: False),
    "after the first": partial(constant, calls=lambda case: bool(case.history)),
}
_SEEDS: Final = 10


class Detection:
    """Detects, and asks no model. The first detector decides; what the others say is noted. Implements Method."""

    def __init__(self, *detectors: Detector) -> None:
        self._detectors = detectors

    async def answer(self, case: Case) -> Output:
        """See Method."""
        called = [await detect(case) for detect in self._detectors]
        return Output(is_ambiguous=called[0], notes={"called": called})


async def rewrite_where(asked: Asked, meter: Tally, case: Case, *, where: str, detect: Detector | None) -> Output:
    """Rewrite no question, every question, or those that are called ambiguous, and search.

    Args:
        asked: The model and the corpus.
        meter: Counts the calls.
        case: The question.
        where: nothing, everything, few-shot (the model detects), or the name of a detector.
        detect: The detector; None for the first three.
    """
    is_ambiguous = where == "everything"
    question = case.question
    if detect is not None:
        is_ambiguous = await detect(case)
    with suppress(InvalidReply):
        if where == "few-shot":
            is_ambiguous = await ask(asked, meter, ambiguity(case.question, case.history))
        if is_ambiguous and case.history:
            rewritten = await ask(asked, meter, rewriting(case.question, case.history))
            question = case.question if rewritten is None else rewritten
    output = Output(questions=(question,), is_ambiguous=is_ambiguous)
    found = await asked.retriever.search(question, 20) if case.relevant_documents else []
    return replace(output, retrieved=tuple(found))


async def rewriter(bench: Bench, data: Data, settings: Mapping[str, Any]) -> Method:
    """Make a method that rewrites."""
    where = settings["where"]
    detect = await DETECTORS[where](data) if where in DETECTORS else None
    return Baseline(await bench.asked(), partial(rewrite_where, where=where, detect=detect))


class Unchanged:
    """Rewrites nothing, and asks no model. Implements Method."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench

    async def answer(self, case: Case) -> Output:
        """See Method."""
        found = await self._bench.asking.search(case.question, 20) if case.relevant_documents else []
        return Output(questions=(case.question,), is_ambiguous=False, retrieved=tuple(found))


async def unchanged(bench: Bench, data: Data, settings: Mapping[str, Any]) -> Method:
    """Make the method that rewrites nothing."""
    return Unchanged(bench)


class WithoutHistory:
    """Lets detect_ambiguity see the question alone. Implements Method.

    To the paper, a question that leans on what was said before is ambiguous. To detect_ambiguity, it is not, if the
    history says what is meant.
    """

    def __init__(self, method: Method) -> None:
        self._method = method

    async def answer(self, case: Case) -> Output:
        """See Method."""
        return await self._method.answer(replace(case, history=()))


async def without_history(bench: Bench, data: Data, settings: Mapping[str, Any]) -> Method:
    """Make the method that shows no history."""
    return WithoutHistory(await bench.method("detect_ambiguity", {}))


async def detector(bench: Bench, data: Data, settings: Mapping[str, Any]) -> Method:
    """Make a method that only detects."""
    if "seeds" in settings:
        return Detection(*await trained(data, *map(_network, range(settings["seeds"]))))
    return Detection(await DETECTORS[settings["by"]](data))


async def bleu(scored: Scored) -> Values:
    """BLEU of each question that is searched with, against people's, from 0 to 1; the mean over questions."""
    import sacrebleu

    values: list[float | None] = []
    for case, stored in scored.pairs:
        said: Sequence[str] = stored.output["questions"]
        wanted = line_of(scored.data, case).get("rewrite")
        values.append(sacrebleu.sentence_bleu(said[0], [wanted]).score / 100 if said and wanted else None)
    return values


def _called(stored: EvaluatedCase) -> list[float] | None:
    """The label, and what each detector of a row calls the question; a single one as often as there are networks."""
    label, called = (stored.figures.get(name) for name in ("label", "called"))
    if label is None or called is None:
        return None
    several = stored.output.get("notes", {}).get("called", ())
    return [label, *(map(float, several) if len(several) > 1 else [called] * _SEEDS)]


def f1_over_seeds(name: str, over: Callable[..., Floats]) -> Column:
    """Make a column of F1: the mean, the lowest or the highest of several detectors on the same questions."""

    async def of(scored: Scored) -> Values:
        # A single detector has its mean only.
        return [
            _called(stored) if over is np.mean or len(stored.output.get("notes", {}).get("called", ())) > 1 else None
            for _, stored in scored.pairs
        ]

    def statistic(samples: Floats) -> Floats:
        labels = samples[..., 0] > 0
        f1s = [f1s_of_labels(labels, samples[..., place] > 0) for place in range(1, samples.shape[-1])]
        return over(np.stack(f1s), axis=0)

    return Column(name, of, statistic)


def accuracy(case: Case, stored: EvaluatedCase) -> float | None:
    """Share of the detectors that call the question what people call it.

    Source: Detect, then rewrite (summary), Key Results.
    """
    known = _called(stored)
    return None if known is None else known[1:].count(known[0]) / len(known[1:])


def _detecting(name: str, by: str, paper: str = "", needs: str = "is_ambiguous", **settings: Any) -> Row:
    return Row(name, "detect_ambiguity", {"by": by, **settings}, paper, detector, needs)


def _rewriting(name: str, where: str, paper: str = "") -> Row:
    return Row(name, "rewrite", {"where": where}, paper, rewriter, needs="history")


ROWS: Final = (
    _detecting("detection: always ambiguous", "always"),
    _detecting("detection: never ambiguous", "never"),
    _detecting("detection: not the first question", "after the first", needs="history"),
    _detecting("detection: the paper's network", "network", "F1 .902, accuracy .922", seeds=_SEEDS),
    _detecting("detection: logistic regression", "logistic regression"),
    _detecting("detection: ours, trained alike", "ours"),
    Row("detect_ambiguity", "detect_ambiguity", needs="is_ambiguous"),
    Row(
        "detect_ambiguity, without the history",
        "detect_ambiguity",
        {"history": False},
        make=without_history,
        needs="history",
    ),
    Row("no rewriting", "rewrite", {"where": "nothing"}, make=unchanged, needs="history"),
    _rewriting("rewriting everything", "everything", "BLEU .476"),
    _rewriting("few-shot, then rewriting", "few-shot", "F1 of detection .780"),
    _rewriting("the paper's network, then rewriting", "network", "BLEU .542"),
    Row("rewrite", "rewrite", needs="history"),
)
COLUMNS: Final = (
    f1_over_seeds("F1", np.mean),
    f1_over_seeds("F1, worst of ten", np.min),
    f1_over_seeds("F1, best of ten", np.max),
    each("accuracy", accuracy),
    Column("BLEU", bleu),
    "recall@10",
    "calls",
    "failed",
)

if __name__ == "__main__":
    main("Detect, then rewrite", ROWS, COLUMNS)
