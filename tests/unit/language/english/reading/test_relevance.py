"""Which answers to whole questions are about the question."""

from __future__ import annotations

import pytest

from pgclarify.data.verdicts import Reading
from pgclarify.language.english.reading.asked import Asked
from pgclarify.language.english.reading.relevance import is_relevant


@pytest.mark.parametrize(
    ("question", "quote", "answer", "is_about"),
    [
        ("Which key quits the browser?", "The Q key quits it.", "Q", True),
        ("Which Java version does Hexby need?", "Hexby needs Java 17.0 or later.", "Java 17.0 or later", True),
        ("Who is the ticket assigned to?", "Assigned to Lina Sato.", "Lina Sato", True),
        ("Who was the chapel painted by?", "The chapel was built by Hugo Lenz.", "Hugo Lenz", False),
        ("Which key quits the browser?", "Quit the browser, update the list, or install.", "update the list", False),
        ("How many disks does the server need?", "It needs two fast disks.", "two", True),
        ("How much disk space does the server need?", "You need exactly one server.", "exactly one server", False),
        ("What is the default limit of the queue?", "The queue is then declared dead.", "dead", False),
        ("How long does Hexby keep mail?", "Hexby keeps mail for five days.", "five days", True),
        ("How long does Hexby keep mail?", "Hexby keeps mail of 100,000 users.", "100,000", False),
        ("How long are motors guaranteed?", "The motors are guaranteed for two years.", "two years", True),
        ("who has the key?", "jens has the key to the cold room.", "jens", True),
        ("Who may erase a document?", "| erased | the verdict was erased with its document |", "the verdict", False),
        ("Where is the key?", "The key hangs behind the door.", "hangs behind the door", True),
        ("Who develops Hexby?", "Hexby is developed by Ada Lind.", "Ada Lind", True),
        ("Who develops Hexby?", "Hexby 10 Woody came out in 2019.", "Woody", False),
        ("Who develops Hexby?", "Hexby is developed on a list.", "a list", False),
        ("Where are home directories stored?", "Home directories are stored on the main server.", "main server", True),
        ("When was the club founded?", "It began in 1954.", "1954", True),
        ("When did Ina start?", "It took nearly four years.", "nearly four years", False),
        ("When is the fee due?", "The fee is due within four weeks.", "four weeks", True),
        ("Who founded the club?", "The club was started by Ina Holm.", "Ina Holm", True),
        ("Which committee was chosen?", "The plan of Oby was picked by the Green Circle.", "Green Circle", False),
        ("Where is the mill?", "Red Mill (Oby, Kent) Red Mill is a mill.", "Oby, Kent", True),
        ("What is the population of Oby?", "The population of Oby grew by 4 %.", "4 %", False),
        ("When was Ina Holm born?", "Ina Holm was born in Ulm in 1875.", "1875", True),
        ("What happened in 1921?", "The mill burned down in 1921.", "The mill burned down", True),
        ("At what temperature are vaccines kept?", "Vaccines are kept at 4 degrees.", "4 degrees", True),
        ("What is the profession of Ina Holm?", "Ina Holm was a nurse.", "nurse", True),
        ("What is the motto of the club?", "The motto of the club is Row on.", "Row on", True),
        ("What is the motto of the club?", "The club has its seat in Oby.", "Oby", False),
        ("Who is the author of Salt?", "Ina Holm sold the house.", "Ina Holm", False),
        ("How much is the course?", "The course lasts three weeks.", "three weeks", False),
        ("How many days of the car are paid?", "It pays $45 a day for the car.", "$45 a day", False),
        ("How many days of the car are paid?", "The car is paid for 30 days.", "30 days", True),
    ],
)
def test_an_answer_has_to_be_about_what_was_asked(question: str, quote: str, answer: str, is_about: bool) -> None:
    assert is_relevant(Asked.read(question), Reading(question, answer, quote)) is is_about


def test_line_breaks_in_a_sentence_do_not_hide_its_answer() -> None:
    reading = Reading("Where is the archive kept?", "the old mill", "The archive is kept in\nthe old\nmill.")
    assert is_relevant(Asked.read(reading.interpretation), reading)
