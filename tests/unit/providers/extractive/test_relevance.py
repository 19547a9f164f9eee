"""Which answers to whole questions are about the question."""

from __future__ import annotations

import pytest

from pgclarify.data.verdicts import Reading
from pgclarify.providers.extractive.readings import Asked
from pgclarify.providers.extractive.relevance import is_relevant
from pgclarify.providers.extractive.topics import read_topic


@pytest.mark.parametrize(
    ("question", "quote", "answer", "is_about"),
    [
        ("Which key quits the browser?", "The Q key quits it.", "Q", True),
        ("Which key quits the browser?", "Quit the browser, update the list, or install.", "update the list", False),
        ("Which city hosts the fair?", "Arvale hosts the fair.", "Arvale", True),
        ("How many disks does the server need?", "It needs two fast disks.", "two", True),
        ("How much disk space does the server need?", "You need exactly one server.", "exactly one server", False),
        ("How much money does the club owe?", "The club owes $40.", "$40", True),
        ("What is the default limit of the queue?", "The queue is then declared dead.", "dead", False),
        ("How long does Hexby keep mail?", "Hexby keeps mail for five days.", "five days", True),
        ("How long does Hexby keep mail?", "Hexby keeps mail of 100,000 users.", "100,000", False),
        ("How long is the river Alma?", "The Alma is 200 miles long.", "200 miles", True),
        ("How long are motors guaranteed?", "The motors are guaranteed for two years.", "two years", True),
        ("who has the key?", "jens has the key to the cold room.", "jens", True),
        ("Where is the key?", "The key hangs behind the door.", "hangs behind the door", True),
        ("Who develops Hexby?", "Hexby is developed by Ada Lind.", "Ada Lind", True),
        ("Who develops Hexby?", "Hexby 10 Woody came out in 2019.", "Woody", False),
        ("Who develops Hexby?", "Hexby is developed on a list.", "a list", False),
        ("Where are home directories stored?", "Home directories are stored on the main server.", "main server", True),
        ("Where are home directories stored?", "Home directories are stored read only.", "read only", False),
        ("Where are home directories stored?", "Backups are stored on the server.", "the server", False),
        ("How do I add a printer?", "To add a printer, press F2.", "press F2", True),
        ("How do I add a printer?", "To add a user, press F2.", "press F2", False),
        ("What does the hold flag do?", "The hold flag keeps a package.", "keeps a package", True),
        ("What does the hold flag do?", "The purge flag keeps no file.", "keeps no file", False),
        ("When was the club founded?", "It began in 1954.", "1954", True),
    ],
)
def test_an_answer_has_to_be_about_what_was_asked(question: str, quote: str, answer: str, is_about: bool) -> None:
    topic = read_topic(None, None, quote)
    assert is_relevant(Asked.read(question), Reading(question, answer, quote), topic) is is_about


def test_a_heading_says_what_its_sentences_leave_out() -> None:
    question, quote = "How do I add a printer?", "Press F2."
    reading = Reading(question, "Press F2", quote)
    assert is_relevant(Asked.read(question), reading, read_topic("Printers", "Adding printers", quote))
    assert not is_relevant(Asked.read(question), reading, read_topic("Printers", "Sharing", quote))


def test_line_breaks_in_a_sentence_do_not_hide_its_answer() -> None:
    reading = Reading("Where is the archive kept?", "the old mill", "The archive is kept in\nthe old\nmill.")
    assert is_relevant(Asked.read(reading.interpretation), reading, read_topic(None, None, reading.quote))
