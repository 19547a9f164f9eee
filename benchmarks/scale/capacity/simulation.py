"""A busy hour: people's questions, a queued batch beside them, and what each part of the machinery is doing.

A question searches, after one relaxing call if the setting has it, and then makes all judging calls at once. Each call
waits for a turn in its worker, takes CPU time of the worker and of the server, and a place at the endpoint for some
seconds. All calls take equally long. CPU time is given in order of arrival; a place of the endpoint by the rules of a
worker's line.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Generator
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from statistics import median, quantiles
from typing import TypeAlias

from benchmarks.scale.capacity import costs
from benchmarks.scale.capacity.plan import Setting, call_seconds_of_server, search_seconds

Steps: TypeAlias = Generator[float | None, None, None]
"""What a call or a question does. It yields seconds to pass, or None until another one wakes it."""

# A question of a person is in line 0 with a relaxing call, and in line 1 with the others. A batch has the lines after.
_LINES = 4
_BATCH = 2

# With fewer, a median would say nothing.
_LEAST_QUESTIONS = 20


class Clock:
    """Runs all steps in the order of simulated time."""

    def __init__(self) -> None:
        self.now = 0.0
        self._due: list[tuple[float, int, Steps]] = []
        self._numbers = count()

    def start(self, steps: Steps, after: float = 0.0) -> None:
        """Begin steps, or continue those that wait."""
        heappush(self._due, (self.now + after, next(self._numbers), steps))

    def run(self) -> None:
        """Run until no step is left."""
        while self._due:
            self.now, _, self.running = heappop(self._due)
            for pause in self.running:
                if pause is None:
                    break
                self.start(self.running, pause)
                break


class Part:
    """A part of the machinery with some places, such as cores, and those that wait for one.

    Attributes:
        busy: Seconds that its places were taken, all together.
    """

    def __init__(self, clock: Clock, places: int) -> None:
        self.busy = 0.0
        self.places = places
        self._clock = clock
        self._free = places
        self._waiting: tuple[deque[tuple[int, Steps]], ...] = tuple(deque() for _ in range(_LINES))
        self._arrivals = count()

    def take(self, line: int = 0) -> Steps:
        """Wait for a place. The first line goes first."""
        if self._free:
            self._free -= 1
            return
        self._waiting[line].append((next(self._arrivals), self._clock.running))
        yield None

    def give_back(self) -> None:
        """Give the place to the next one."""
        line = self._next_line()
        if line is None:
            self._free += 1
        else:
            self._clock.start(line.popleft()[1])

    def use(self, seconds: float) -> Steps:
        """Take a place for some seconds."""
        yield from self.take()
        self.busy += seconds
        yield seconds
        self.give_back()

    def _next_line(self) -> deque[tuple[int, Steps]] | None:
        return next((line for line in self._waiting if line), None)


class CallLine(Part):
    """The line of a worker's calls, as in pgclarify.providers.call_line: every fourth turn goes to a batch."""

    _passed = 0

    def _next_line(self) -> deque[tuple[int, Steps]] | None:
        people = [line for line in self._waiting[:_BATCH] if line]
        batch = [line for line in self._waiting[_BATCH:] if line]
        if not (people and batch):
            self._passed = 0
            return next(iter(people or batch), None)
        self._passed = (self._passed + 1) % costs.BACKGROUND_EVERY
        return people[0] if self._passed else min(batch, key=lambda line: line[0][0])


class _Worker:
    """A worker. loop: its event loop, which has one core at most."""

    def __init__(self, clock: Clock, setting: Setting, cores: Part) -> None:
        calls = max(1, setting.at_once // setting.workers)
        self.turns = CallLine(clock, calls)
        self.loop = Part(clock, 1)
        self.cores = cores
        self.batch_runs = max(costs.LEAST_RUNS, calls // 2)
        self.runs = Part(clock, self.batch_runs + max(2, self.batch_runs // 4))


@dataclass(frozen=True)
class Hour:
    """What was seen.

    Attributes:
        waits: Seconds that each question of a person took.
        batch_waits: Seconds that each question of the batch took, from the moment when a worker took it.
        calls_a_second: All calls over the whole time.
        loads: The share of each part that was busy.
        batch_seconds: Until the last question of the batch was answered.
    """

    waits: list[float]
    batch_waits: list[float]
    calls_a_second: float
    loads: dict[str, float]
    batch_seconds: float

    @property
    def median(self) -> float:
        """The median wait of a person."""
        return median(self.waits)

    @property
    def longest_but_5_percent(self) -> float:
        """The wait that 95 % of the people do not exceed."""
        return quantiles(self.waits, n=20, method="inclusive")[-1]


class Simulation:
    """One simulated hour, or less.

    Args:
        setting: With a number for each part.
        batch: Questions that are queued at the beginning.
        seed: Of the random moments at which people ask.
    """

    def __init__(self, setting: Setting, *, batch: int = 0, seed: int = 0) -> None:
        self._setting = setting
        self._clock = Clock()
        self._random = random.Random(seed)  # noqa: S311
        self._server = Part(self._clock, setting.cores)
        self._endpoint = Part(self._clock, setting.at_once)
        self._workers = [_Worker(self._clock, setting, self._cores()) for _ in range(setting.workers)]
        self._batch = batch
        self._calls = 0
        self._waits: list[float] = []
        self._batch_waits: list[float] = []
        self._batch_ended = 0.0

    def hour(self, most_questions: int, seconds: float = 3600.0) -> Hour:
        """People ask at random moments, in a Poisson process with the rate of the peak.

        Args:
            most_questions: Most questions of people, because many would take long to simulate.
            seconds: When they stop asking. If few people ask, it goes on until some have.
        """
        self._clock.start(self._people(most_questions, seconds))
        return self._run()

    def one_after_the_other(self, questions: int, after: float = 5.0) -> Hour:
        """One person asks, each question when the one before is answered."""
        self._clock.start(self._person(questions), after)
        return self._run()

    def batch_alone(self) -> Hour:
        """Only the batch, until it ends."""
        return self._run()

    def _cores(self) -> Part:
        return self._server if self._setting.is_one_machine else Part(self._clock, costs.CORES_OF_A_WORKER)

    def _run(self) -> Hour:
        # In turns, because all workers take questions of the batch from the beginning.
        for _ in range(self._workers[0].batch_runs):
            for worker in self._workers:
                self._clock.start(self._background(worker))
        self._clock.run()
        elapsed = self._clock.now
        return Hour(
            self._waits,
            self._batch_waits,
            self._calls / elapsed,
            {
                "the endpoint": self._endpoint.busy / elapsed / self._endpoint.places,
                "the workers": max(
                    part.busy / elapsed / part.places
                    for worker in self._workers
                    for part in (worker.loop, worker.cores)
                ),
                "the server's cores": self._server.busy / elapsed / self._server.places,
            },
            self._batch_ended,
        )

    def _people(self, most: int, seconds: float) -> Steps:
        for number in range(most):
            yield self._random.expovariate(self._setting.questions_a_second)
            if self._clock.now > seconds and number >= _LEAST_QUESTIONS:
                break
            self._clock.start(self._asked())
        self._batch = 0

    def _person(self, questions: int) -> Steps:
        for _ in range(questions):
            yield from self._asked()
        self._batch = 0

    def _asked(self) -> Steps:
        started = self._clock.now
        yield costs.ENTER.value
        worker = self._random.choice(self._workers)
        yield from worker.runs.take()
        yield from self._question(worker, line=0)
        yield costs.LEAVE.value
        self._waits.append(self._clock.now - started)

    def _background(self, worker: _Worker) -> Steps:
        while self._batch > 0:
            self._batch -= 1
            yield from worker.runs.take(_BATCH)
            started = self._clock.now
            yield from self._question(worker, _BATCH)
            self._batch_ended = self._clock.now
            self._batch_waits.append(self._batch_ended - started)

    def _question(self, worker: _Worker, line: int) -> Steps:
        if self._setting.relaxes:
            yield from self._call(worker, line)
        yield costs.EMBED_QUESTION.value
        yield from self._server.use(search_seconds(self._setting.passages))
        left = [self._setting.top_k]
        waiting = self._clock.running
        for _ in range(self._setting.top_k):
            self._clock.start(self._judge(worker, line + 1, left, waiting))
        yield None
        worker.runs.give_back()

    def _judge(self, worker: _Worker, line: int, left: list[int], waiting: Steps) -> Steps:
        yield from self._call(worker, line)
        left[0] -= 1
        if not left[0]:
            self._clock.start(waiting)

    def _call(self, worker: _Worker, line: int) -> Steps:
        """Half of the CPU time is before the reply, while the call has its turn, and half after it."""
        self._calls += 1
        yield from worker.turns.take(line)
        yield from self._compute(worker)
        if self._setting.is_one_machine:
            yield from self._server.use(costs.CALL_ENDPOINT.value)
        yield from self._endpoint.use(self._setting.call_seconds)
        worker.turns.give_back()
        yield from self._compute(worker)
        # A reading is embedded, in threads beside the event loop.
        yield from worker.cores.use(costs.CALL_WORKER.value - costs.CALL_LOOP.value)

    def _compute(self, worker: _Worker) -> Steps:
        yield from worker.loop.take()
        seconds = costs.CALL_LOOP.value / 2
        worker.loop.busy += seconds
        yield from worker.cores.use(seconds)
        worker.loop.give_back()
        yield from self._server.use(call_seconds_of_server() / 2)
