"""How often a question about one thing is answered with what a corpus says about another one, without a language model.

python -m benchmarks.quality.other_things [--part NAME] [--verbose]. Each of the parts "development" and "held" is a
corpus of 400 notes, 300 records and a few small policies, written from templates, with 32 questions. Each of the parts
"companies-development" and "companies-held" has 15 documents of three companies and 40 questions, 15 of them without an
answer (companies.jsonl). "organisations-development" and "organisations-held" have 33 shorter documents of six other
organisations (lists, tables, notices, lines of a label and a value) and 60 questions, 15 of them without an answer. All
were written before the rules that they measure; choices were made on development.
Questions go through the product: an embedded server, a worker with the extractive provider, and `clarify`.

A question about one thing is right if each reading that is shown has a right answer, or if nothing is shown where the
corpus has no answer. A question that has several readings (a few words, or a policy with a successor) is right if one
of them has a right answer. It is missed if nothing is shown, and wrong otherwise.

`--identifiers` measures search alone: how many of 100 questions for a note or a record have it among the first 20.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from rich.table import Table

from benchmarks import product
from benchmarks.figures import show_tables, step
from pgclarify.data.vocabulary import Document
from pgclarify.language.quotes import fold

_COMPANIES: Final = Path(__file__).with_name("companies.jsonl")
_NOTES: Final = 400
_RECORDS: Final = 300
_TOP: Final = 20
_PATIENCE_SECONDS: Final = 1800.0
_PEOPLE: Final = (
    "Ana Ruiz", "Tom Berg", "Ines Duarte", "Karl Voss", "Mei Tan", "Olga Petrov", "Samir Haddad", "Jane Doyle",
)  # fmt: skip
_MONTHS: Final = ("March", "April", "May", "June", "September", "October")


@dataclass(frozen=True)
class Asked:
    """A question.

    Attributes:
        question: As a user asks it.
        answers: A right answer has one of these; none if the corpus has no answer.
        is_open: Whether readings without a right answer may be shown beside one with it.
    """

    question: str
    answers: tuple[str, ...]
    is_open: bool = False


@dataclass(frozen=True)
class World:
    """A corpus with its questions.

    Attributes:
        documents: All documents.
        asked: The questions.
        named: Pairs of a question and the id of the one document that answers it.
    """

    documents: list[Document]
    asked: list[Asked]
    named: list[tuple[str, str]]


def development() -> World:
    """Projects and invoices of an office."""
    draw = random.Random(46)  # noqa: S311 - not for secrets
    documents, named = list[Document](), list[tuple[str, str]]()
    costs, leaders, totals, dues = dict[str, str](), dict[str, str](), dict[str, str](), dict[str, str]()
    for number in range(_NOTES):
        name = f"{('Falcon', 'Otter', 'Comet', 'Maple')[number % 4]}{900 + number}"
        costs[name], leaders[name] = f"{draw.randrange(1000, 9999)}", draw.choice(_PEOPLE)
        documents.append(
            Document(
                f"note-{name}",
                f"Project {name} costs {costs[name]} euros and is led by {leaders[name]}. "
                f"It ends in {draw.choice(_MONTHS)} {draw.randrange(2025, 2029)}.",
            )
        )
        named.append((f"How much does project {name} cost?", f"note-{name}"))
    for number in range(_RECORDS):
        name = f"INV-{1001 + number}"
        totals[name] = f"{draw.randrange(100, 9999):,}.{draw.randrange(10, 99)}"
        dues[name] = f"{draw.randrange(1, 28)} {draw.choice(_MONTHS)} 2026"
        documents.append(
            Document(
                f"record-{name}",
                f"Invoice {name} for {draw.choice(('Alder', 'Birch', 'Cedar'))} Ltd. "
                f"The total is {totals[name]} euros. Payment is due on {dues[name]}.",
                title=f"Invoice {name}",
            )
        )
        named.append((f"What is the total of {name}?", f"record-{name}"))
    policies = {
        "Canteen": "The canteen is closed from 24 December to 2 January. Meals are paid by card.",
        "Library": "The library opens at 9 am. It is closed on Sundays.",
        "Furniture": "The Alpina chair costs 240 euros. The Nordic desk costs 610 euros.",
        "Berlin office": "The Berlin office is led by Petra Lang. It has 40 employees.",
        "Leave policy 2024": "Employees get 25 days of leave. Up to 5 days can be carried over to the next year.",
        "Leave policy 2025": "This policy replaces the leave policy of 2024. Employees get 27 days of leave. "
        "Up to 10 days can be carried over to the next year.",
        "Wifi": "Connect to the network Guest-Net and open any page. The password is on the card at the reception.",
        "Holidays": "The office is closed on public holidays of the state. The list is posted in January.",
        "Staff handbook": "# Expenses\n\nSend receipts to accounting within 30 days. Meals are paid up to 35 euros.\n\n"
        "# Parental leave\n\nTell your manager three months before the birth. Pay continues for 14 weeks.\n\n"
        "# Parking\n\nSpaces are assigned by the front desk. Visitors use level 2.",
        "Bike repair": "Bring the bike to the workshop in the basement. Repairs take two days.",
        "Fire drill": "Leave by the nearest stairs and meet at the fountain. Lifts must not be used.",
    }
    documents += [Document(title, text, title=title) for title, text in policies.items()]
    asked = [
        Asked("How much does project Falcon912 cost?", (costs["Falcon912"],)),
        Asked("What does project Otter1033 cost?", (costs["Otter1033"],)),
        Asked("What is the cost of Comet950?", (costs["Comet950"],)),
        Asked("How many euros does Maple1119 cost?", (costs["Maple1119"],)),
        Asked("Who leads project Falcon1200?", (leaders["Falcon1200"],)),
        Asked("Maple903 cost", (costs["Maple903"],)),
        Asked("How much does project Falcon77 cost?", ()),
        Asked("Who leads project Walrus912?", ()),
        Asked("What is the total of INV-1042?", (totals["INV-1042"],)),
        Asked("What is the total of invoice INV-1177?", (totals["INV-1177"],)),
        Asked("How much is invoice INV-1250?", (totals["INV-1250"],)),
        Asked("When is the payment of INV-1009 due?", (dues["INV-1009"],)),
        Asked("INV-1111 total", (totals["INV-1111"],)),
        Asked("total of invoice inv-1234", (totals["INV-1234"],)),
        Asked("What is the total of INV-2042?", ()),
        Asked("When is the payment of INV-9 due?", ()),
        Asked("When is the canteen open?", ()),
        Asked("When does the library open?", ("9 am",)),
        Asked("How much does the Alpina desk cost?", ()),
        Asked("How much does the Alpina chair cost?", ("240",)),
        Asked("How much does the Nordic desk cost?", ("610",)),
        Asked("Who leads the Hamburg office?", ()),
        Asked("Who leads the Berlin office?", ("Petra Lang",)),
        Asked("How many days can be carried over?", ("10",), is_open=True),
        Asked("How many days of leave did employees get in 2019?", ()),
        Asked("wifi", ("Guest-Net",), is_open=True),
        Asked("holidays", ("public holidays",), is_open=True),
        Asked("expenses", ("receipts", "35 euros"), is_open=True),
        Asked("parental leave", ("three months", "14 weeks"), is_open=True),
        Asked("parking", ("front desk", "level 2"), is_open=True),
        Asked("bike repair", ("workshop", "two days"), is_open=True),
        Asked("fire drill", ("stairs", "fountain"), is_open=True),
    ]
    return World(documents, asked, draw.sample(named[:_NOTES], 50) + draw.sample(named[_NOTES:], 50))


def held() -> World:
    """Sites and orders of a dealer."""
    draw = random.Random(64)  # noqa: S311 - not for secrets
    documents, named = list[Document](), list[tuple[str, str]]()
    rents, managers, sums, days = dict[str, str](), dict[str, str](), dict[str, str](), dict[str, str]()
    for number in range(_NOTES):
        name = f"{('Heron', 'Lynx', 'Quartz', 'Willow')[number % 4]}-{100 + number}"
        rents[name], managers[name] = f"{draw.randrange(1000, 9999):,}", draw.choice(_PEOPLE)
        documents.append(
            Document(
                f"note-{name}",
                f"The site was opened in {draw.randrange(2001, 2024)}. "
                f"The monthly rent of {name} is {rents[name]} dollars. The manager of the site is {managers[name]}.",
                title=f"Site {name}",
            )
        )
        named.append((f"What is the rent of {name}?", f"note-{name}"))
    for number in range(_RECORDS):
        name = f"PO{20300 + number}"
        sums[name] = f"{draw.randrange(100, 9999):,}"
        days[name] = f"{draw.choice(_MONTHS)} {draw.randrange(1, 28)}, 2026"
        documents.append(
            Document(
                f"record-{name}",
                f"Order {name} was placed with {draw.choice(('Dove', 'Finch', 'Wren'))} Inc. for {sums[name]} dollars. "
                f"It will be delivered on {days[name]}.",
            )
        )
        named.append((f"What is the price of order {name}?", f"record-{name}"))
    policies = {
        "Gym": "The gym is not open on Saturdays. Towels are free.",
        "Pool": "The pool opens at 7 am and closes at 10 pm.",
        "Price list": "A Lumo lamp costs 89 dollars. The Vega shelf costs 150 dollars. Its delivery costs 20 dollars.",
        "Oslo warehouse": "The manager of the Oslo warehouse is Liv Dahl. The warehouse was built in 1998.",
        "Meal allowance 2023": "The daily meal allowance is 35 dollars. Receipts are needed.",
        "Meal allowance 2026": "These rules replace those of 2023. The daily meal allowance is 48 dollars.",
        "VPN": "Install the client from the portal and sign in with your badge number. Ask the help desk for a token.",
        "Overtime": "Hours above 40 a week are paid at 150 percent. They need approval.",
        "Dealer guide": "## Warranty\n\nEvery appliance is covered for three years from delivery. Keep the receipt.\n\n"
        "## Sick leave\n\nCall your supervisor before 9 am. A note is needed from day four.\n\n"
        "## Returns\n\nBring the goods back in the original box within 60 days. Lamps are excluded.",
        "Lost badge": "Report it to security at once. A new one costs 15 dollars.",
        "Guest rooms": "Book through the reception a week ahead. Check-out is at 11 am.",
    }
    documents += [Document(title, text, title=title) for title, text in policies.items()]
    asked = [
        Asked("What is the monthly rent of Heron-112?", (rents["Heron-112"],)),
        Asked("How much is the rent of site Lynx-305?", (rents["Lynx-305"],)),
        Asked("What is the rent of Quartz-214?", (rents["Quartz-214"],)),
        Asked("Who is the manager of Willow-451?", (managers["Willow-451"],)),
        Asked("Who manages site Heron-440?", (managers["Heron-440"],)),
        Asked("Lynx-121 rent", (rents["Lynx-121"],)),
        Asked("What is the rent of Heron-999?", ()),
        Asked("Who is the manager of Badger-112?", ()),
        Asked("How much was order PO20331?", (sums["PO20331"],)),
        Asked("When will PO20415 be delivered?", (days["PO20415"],)),
        Asked("When will order PO20502 be delivered?", (days["PO20502"],)),
        Asked("For how many dollars was order PO20577 placed?", (sums["PO20577"],)),
        Asked("po20366 delivered", (days["PO20366"],)),
        Asked("order PO20444", (sums["PO20444"],)),
        Asked("When will order PO30331 be delivered?", ()),
        Asked("How much was order PO2033?", ()),
        Asked("When is the gym open?", ()),
        Asked("When does the pool close?", ("10 pm",)),
        Asked("How much does the Lumo shelf cost?", ()),
        Asked("How much does a Lumo lamp cost?", ("89",)),
        Asked("How much does the Vega shelf cost?", ("150",)),
        Asked("Who is the manager of the Bergen warehouse?", ()),
        Asked("Who is the manager of the Oslo warehouse?", ("Liv Dahl",)),
        Asked("What is the daily meal allowance?", ("48",), is_open=True),
        Asked("What was the daily meal allowance in 2019?", ()),
        Asked("vpn", ("client", "token"), is_open=True),
        Asked("overtime", ("150 percent", "approval"), is_open=True),
        Asked("warranty", ("three years", "receipt"), is_open=True),
        Asked("sick leave", ("supervisor", "day four"), is_open=True),
        Asked("returns", ("original box", "excluded"), is_open=True),
        Asked("lost badge", ("security", "15 dollars"), is_open=True),
        Asked("guest rooms", ("reception", "11 am"), is_open=True),
    ]
    return World(documents, asked, draw.sample(named[:_NOTES], 50) + draw.sample(named[_NOTES:], 50))


def companies(part: str) -> World:
    """Handbooks, price lists, notices and notes of organisations."""
    lines = [json.loads(line) for line in _COMPANIES.read_text("utf-8").splitlines()]
    rows = [one for one in lines if one["part"] == part]
    documents = [Document(one["title"], one["text"], title=one["title"]) for one in rows if "text" in one]
    asked = [
        Asked(one["asked"], tuple(one["answers"]), is_open=one.get("open", False)) for one in rows if "asked" in one
    ]
    return World(documents, asked, [])


_PARTS: Final[dict[str, Callable[[], World]]] = {
    "development": development,
    "held": held,
    "companies-development": partial(companies, "development"),
    "companies-held": partial(companies, "held"),
    "organisations-development": partial(companies, "organisations-development"),
    "organisations-held": partial(companies, "organisations-held"),
}


def outcome(one: Asked, answers: list[str]) -> str:
    """Right, wrong or missed."""
    if not answers:
        return "missed" if one.answers else "right"
    are_right = [any(fold(known) in fold(answer) for known in one.answers) for answer in answers]
    is_right = any(are_right) if one.is_open else all(are_right)
    return "right" if is_right else "wrong"


def load(connection: product.Connection, corpus: str, documents: Iterable[Document]) -> None:
    """Create a corpus, add documents, and wait until a worker has embedded them."""
    connection.execute("select pgclarify.create_corpus(%s)", [corpus])
    with connection.transaction(), connection.cursor() as cursor:
        cursor.executemany(
            "select pgclarify.add_document(%s, %s, %s, %s)",
            [(corpus, one.document_id, one.content, one.title) for one in documents],
        )
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while connection.execute("select 1 from pgclarify.corpus where corpus = %s and pending > 0", [corpus]).fetchall():
        if time.monotonic() > deadline:
            raise TimeoutError("the corpus was not embedded in time")
        time.sleep(0.5)


def _ask(connection: product.Connection, part: str, world: World, *, is_verbose: bool) -> Counter[str]:
    counts: Counter[str] = Counter()
    for one in world.asked:
        rows = connection.execute(
            "select interpretation, answer from pgclarify.clarify(%s, corpus => %s) where answer is not null",
            [one.question, part],
        ).fetchall()
        found = outcome(one, [row["answer"] for row in rows])
        counts[found] += 1
        if is_verbose:
            print(f"{found:6} {one.question} -> {[(row['interpretation'], row['answer']) for row in rows]}")
    return counts


def _recall(connection: product.Connection, part: str, world: World) -> str:
    found = 0
    for question, document_id in world.named:
        rows = connection.execute(
            "select document_id from pgclarify.search(%s, corpus => %s, top_k => %s)", [question, part, _TOP]
        ).fetchall()
        found += any(row["document_id"] == document_id for row in rows)
    return f"{found / len(world.named):.2f}" if world.named else ""


def _measure(parts: list[str], *, only_identifiers: bool, is_verbose: bool) -> Iterator[list[str]]:
    environment = os.environ | {"PGCLARIFY_LLM_PROVIDER": "extractive"}
    with product.database() as dsn:
        environment |= {"PGCLARIFY_DATABASE_URL": dsn}
        with product.running_worker(dsn, environment), product.connect(dsn) as connection:
            for part in parts:
                world = _PARTS[part]()
                with step(f"{part}: {len(world.documents)} documents"):
                    load(connection, part, world.documents)
                counts = Counter[str]() if only_identifiers else _ask(connection, part, world, is_verbose=is_verbose)
                recall = _recall(connection, part, world)
                shown = [f"{counts[one]} of {len(world.asked)}" for one in ("right", "wrong", "missed")]
                yield [part, *shown, recall]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=[*_PARTS], help="without, all")
    parser.add_argument("--identifiers", action="store_true", help="measure search alone")
    parser.add_argument("--verbose", action="store_true", help="print every question with its readings")
    given = parser.parse_args()
    table = Table("part", "right", "wrong", "missed", f"identifiers: recall@{_TOP}")
    chosen = [given.part] if given.part else [*_PARTS]
    for row in _measure(chosen, only_identifiers=given.identifiers, is_verbose=given.verbose):
        table.add_row(*row)
    show_tables(table)
