"""Mixed load for hours, with faults on: is anything lost, paid for twice, left open, and does memory grow?"""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread

import psycopg

from benchmarks.faults import accounts
from benchmarks.faults.catalog import FAULTS, Fault
from benchmarks.faults.endpoint import Spoiling
from benchmarks.faults.stage import CORPUS, TOP_K, Stage, megabytes, staged

HOURS = 2.0
_WORKERS = 3
_LATENCY = 0.2
# Less than in the table: otherwise all four attempts at one call would sometimes fail by chance.
_SHARE = 0.1
_FAULT_SECONDS = (20.0, 60.0)
_CALM_SECONDS = (5.0, 30.0)
_MOST_OPEN = 16
_LONG_SECONDS = 120.0
_END_SECONDS = 300.0
# Caches fill first, so memory counts from this minute on.
_WARM_UP_SECONDS = 600.0
_LINE_SECONDS = 60.0
_ARTICLES = "articles"
_PLACES = 40
_VIEWS = (
    "run", "citation", "queue_status", "worker_status", "corpus", "source_status",
    "asked_question", "stale_answer",
)  # fmt: skip
_WORDS = (
    "rental",
    "deductible",
    "hail",
    "surcharge",
    "mileage",
    "waiver",
    "toll",
    "refund",
    "driver",
    "repair",
    "border",
)


@dataclass
class _Book:
    """The load and the events so far.

    Attributes:
        asked: When each run was submitted, by its id.
        questions: The questions of these runs.
        states: The state of each run, as last seen.
        done: How often each kind of work was done.
        errors: Errors of this process's own statements, by work and SQLSTATE.
        faults: Each fault with its start and its end.
        died: Workers that ended without being killed.
        spared: Memory of the worker that is never killed, with the minutes since the start.
        server: The same for the server.
        most_late: Highest number of runs that were open for too long at the same time.
    """

    asked: dict[int, float] = field(default_factory=dict)
    questions: list[str] = field(default_factory=list)
    states: dict[int, str] = field(default_factory=dict)
    done: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    faults: list[tuple[Fault, float, float]] = field(default_factory=list)
    died: list[str] = field(default_factory=list)
    spared: list[tuple[float, float]] = field(default_factory=list)
    server: list[tuple[float, float]] = field(default_factory=list)
    most_late: int = 0

    def open_runs(self) -> list[int]:
        """Runs that have not ended, as last seen."""
        return [run_id for run_id in list(self.asked) if self.states.get(run_id) not in accounts.ENDS]


def measure(hours: float = HOURS) -> bool:
    """Load the stage, print a line a minute, and a summary. SIGINT and SIGTERM end it early.

    Args:
        hours: Hours of load.

    Returns:
        Whether nothing was lost, left open or paid for twice, and no run failed without its endpoint being out.
    """
    stop = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    with staged() as stage:
        book = _Book()
        _attach(stage)
        stage.endpoint.latency = _LATENCY
        stage.begin()
        stage.crew.spared = stage.crew.hire(stage.dsn)
        _fill_up(stage, book)
        works = [
            Thread(target=_again_and_again, args=(stage, book, work, pause, stop))
            for work, pause in ((_ask, 0.7), (_cancel, 5.0), (_edit, 2.0), (_change_rows, 2.0), (_look, 3.0))
        ]
        trouble = Thread(target=_trouble, args=(stage, book, stop))
        for thread in (*works, trouble):
            thread.start()
        began = time.monotonic()
        while not stop.wait(_LINE_SECONDS):
            _note(stage, book, (time.monotonic() - began) / 60)
            if time.monotonic() - began > hours * 3600:
                stop.set()
        for thread in (*works, trouble):
            thread.join()
        _fill_up(stage, book)
        stage.wait(book.open_runs(), _END_SECONDS)
        _note(stage, book, (time.monotonic() - began) / 60)
        return _sum_up(stage, book)


def _again_and_again(
    stage: Stage, book: _Book, work: Callable[[Stage, _Book], None], pause: float, stop: Event
) -> None:
    """Do one kind of work until the end, and count errors."""
    while not stop.wait(random.uniform(0.5, 1.5) * pause):  # noqa: S311 - not for secrets
        name = work.__name__.strip("_").replace("_", " ")
        try:
            work(stage, book)
            book.done[name] += 1
        except psycopg.Error as error:
            book.errors[f"{name}: {error.sqlstate or type(error).__name__}"] += 1


def _ask(stage: Stage, book: _Book) -> None:
    """Ask up to three questions, sometimes one that was asked before."""
    open_runs = book.open_runs()
    book.states |= stage.states(open_runs)
    if len(open_runs) >= _MOST_OPEN:
        return
    first = len(book.questions)
    questions = [f"soak: {random.choice(_WORDS)} {first + place}" for place in range(random.randint(1, 3))]  # noqa: S311
    if book.questions and random.random() < 0.2:  # noqa: S311
        questions.append(random.choice(book.questions))  # noqa: S311
    for run_id in stage.ask(questions):
        book.asked[run_id] = time.time()
    book.questions += questions


def _cancel(stage: Stage, book: _Book) -> None:
    open_runs = book.open_runs()
    if open_runs:
        stage.query("select pgclarify.cancel(array[%s]::bigint[])", random.choice(open_runs))  # noqa: S311


def _edit(stage: Stage, book: _Book) -> None:
    """Add, change or remove a document of the corpus."""
    document_id = f"edited {random.randrange(_PLACES)}"  # noqa: S311
    if random.random() < 0.3:  # noqa: S311
        stage.query("select pgclarify.remove_document(%s, %s)", CORPUS, document_id)
    else:
        stage.query("select pgclarify.add_document(%s, %s, %s)", CORPUS, document_id, _sentence())


def _change_rows(stage: Stage, book: _Book) -> None:
    """Insert, update or delete rows of an attached table."""
    place = random.randrange(_PLACES)  # noqa: S311
    if random.random() < 0.3:  # noqa: S311
        stage.query("delete from public.article where id = %s", place)
    else:
        stage.query(
            "insert into public.article values (%s, %s) on conflict (id) do update set body = excluded.body",
            place,
            _sentence(),
        )


def _look(stage: Stage, book: _Book) -> None:
    """Search, and read the views for dashboards."""
    statement = "select count(*) from pgclarify.search(%s, corpus => %s, top_k => %s)"
    stage.query(statement, _sentence(), random.choice((CORPUS, _ARTICLES)), TOP_K)  # noqa: S311
    stage.query(f"select count(*) from pgclarify.{random.choice(_VIEWS)}")  # noqa: S311, S608 - our own names


def _sentence() -> str:
    words = random.choices(_WORDS, k=12)  # noqa: S311
    return f"{' '.join(words).capitalize()} number {random.randrange(10**6)}."  # noqa: S311


def _trouble(stage: Stage, book: _Book, stop: Event) -> None:
    """Start one fault after the other, with a pause between them."""
    while not stop.wait(random.uniform(*_CALM_SECONDS)):  # noqa: S311
        fault = random.choice(FAULTS)  # noqa: S311
        began = time.time()
        with _on(stage, book, fault, stop):
            stop.wait(random.uniform(*_FAULT_SECONDS))  # noqa: S311
        book.faults.append((fault, began, time.time()))
        _fill_up(stage, book)


@contextmanager
def _on(stage: Stage, book: _Book, fault: Fault, stop: Event) -> Iterator[None]:
    """Keep a fault up during the block, and wait for its end."""
    over = Event()

    def disturb() -> None:
        assert fault.disturb is not None
        try:
            fault.disturb(stage, over)
        # A worker cannot start while the server is away.
        except (AssertionError, psycopg.Error) as error:
            book.errors[f"{fault.name}: {type(error).__name__}"] += 1

    stage.endpoint.spoiling = Spoiling(fault.replies, fault.share if fault.share == 1 else _SHARE)
    thread = Thread(target=disturb) if fault.disturb else None
    try:
        if thread:
            thread.start()
        yield
    finally:
        over.set()
        if thread:
            thread.join()
        stage.endpoint.spoiling = Spoiling()


def _fill_up(stage: Stage, book: _Book) -> None:
    """Replace workers that have ended."""
    crew = stage.crew
    for member in crew.members:
        if not member.process.is_alive():
            book.died.append(member.log.read_text()[-500:])
            crew.kill(member)
            if member is crew.spared:
                crew.spared = None
    while len(crew.members) < _WORKERS:
        with suppress(AssertionError, psycopg.Error):
            member = crew.hire(stage.dsn)
            crew.spared = crew.spared or member


def _attach(stage: Stage) -> None:
    """A corpus that follows a table."""
    stage.query("create table public.article (id integer primary key, body text not null)")
    stage.query("select pgclarify.create_corpus(%s, %s)", _ARTICLES, stage.embedding_model)
    stage.query("select pgclarify.attach_table(%s, 'public.article', 'id', 'body')", _ARTICLES)


def _note(stage: Stage, book: _Book, minutes: float) -> None:
    """Check everything, and print a line."""
    account = stage.account(list(book.asked))
    book.states = stage.states(list(book.asked))
    now = time.time()
    late = sum(now - book.asked[run_id] > _LONG_SECONDS for run_id in book.open_runs())
    book.most_late = max(book.most_late, late)
    stage.crew.look()
    sizes = {}
    for member in stage.crew.members:
        with suppress(OSError, StopIteration):
            sizes[member] = megabytes(member)
    if stage.crew.spared in sizes and minutes * 60 >= _WARM_UP_SECONDS:
        book.spared.append((minutes / 60, sizes[stage.crew.spared]))
    server = _server_megabytes(stage.data_dir)
    book.server.append((minutes / 60, server))
    ((database,),) = stage.query("select pg_database_size(current_database()) / 1048576")
    print(
        f"{minutes:6.1f} min: {_shown(account)}, late {late}; workers"
        f" {'/'.join(f'{size:.0f}' for size in sizes.values())} MB, server {server:.0f} MB, database {database} MB",
        flush=True,
    )


def _shown(account: accounts.Account) -> str:
    ends = " ".join(f"{state} {account.states.get(state, 0)}" for state in accounts.ENDS)
    return (
        f"{ends} open {account.still_open} lost {account.lost}; calls {account.calls} stored {account.stored}"
        f" paid twice {account.paid_twice} in vain {account.in_vain}"
    )


def _server_megabytes(data_dir: Path) -> float:
    """Memory of the server's processes, without shared memory."""
    postmaster = (data_dir / "postgres" / "postmaster.pid").read_text().split("\n", 1)[0].strip()
    kilobytes = 0
    for status in Path("/proc").glob("[0-9]*/status"):
        with suppress(OSError):
            fields = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
            if postmaster in (fields["PPid"].strip(), fields["Pid"].strip()) and "RssAnon" in fields:
                kilobytes += int(fields["RssAnon"].split()[0])
    return kilobytes / 1024


def _sum_up(stage: Stage, book: _Book) -> bool:
    account = stage.account(list(book.asked))
    unexplained = _unexplained(stage, book)
    print(f"\n{len(book.asked)} runs: {_shown(account)}; most open for over two minutes at once: {book.most_late}")
    for line in account.twice[:20]:
        print(f"    paid twice: {line}")
    print(f"work: {dict(book.done)}")
    print(f"errors of our own statements: {dict(book.errors)}")
    print(f"faults: {dict(Counter(fault.name for fault, _, _ in book.faults))}")
    print(f"workers that ended by themselves: {len(book.died)}")
    for log in book.died[:5]:
        print(f"    {log}")
    for name, points in (("worker that was never killed", book.spared), ("server", book.server)):
        if points:
            grown = f"{points[0][1]:.0f} to {points[-1][1]:.0f} MB, slope {accounts.slope(points):+.1f} MB an hour"
            print(f"memory, {name}: {grown}")
    print(f"peak of any worker: {stage.crew.peak_megabytes:.0f} MB")
    print(f"failed while the endpoint was not out: {unexplained.total()}")
    for line, count in unexplained.most_common(30):
        print(f"    {count} {line}")
    return not (account.lost or account.still_open or account.paid_twice or unexplained or book.died)


def _unexplained(stage: Stage, book: _Book) -> Counter[str]:
    """Runs that failed while the endpoint was reachable: their errors, and the faults at that time."""
    failed = stage.query(
        "select run_id, left(error, 120), extract(epoch from finished_at)::float8 from pgclarify.run"
        " where run_id = any(%s) and status = 'failed'",
        list(book.asked),
    )
    lines: Counter[str] = Counter()
    for run_id, error, ended in failed:
        met = [fault for fault, began, over in book.faults if began < ended and over > book.asked[run_id]]
        if not any(fault.is_outage for fault in met):
            lines[f"under {', '.join(fault.name for fault in met) or 'no fault'}: {error}"] += 1
    return lines
