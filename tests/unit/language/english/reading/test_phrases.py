"""Readings that are no questions, and pieces of a passage that are no sentences."""

from __future__ import annotations

import pytest

from pgclarify.data.documents import Passage
from pgclarify.language.english.reading.asked import Asked
from pgclarify.language.english.reading.evidence import gather_evidence
from pgclarify.language.english.reading.phrases import read_whole
from pgclarify.language.english.reading.readable import is_readable
from pgclarify.language.english.reading.readings import read_evidence
from pgclarify.language.english.reading.topics import read_topic
from pgclarify.operations.judging.verdict_check import Quoted, check_quote


def readings(
    question: str, content: str, title: str | None = None, heading: str | None = None
) -> list[tuple[str, str]]:
    """The readings of a passage, piece by piece. Each reading passes the checks of a verdict."""
    asked, topic = Asked.read(question), read_topic(title, heading)
    found = []
    for evidence in gather_evidence(content):
        read = read_evidence(asked, evidence, topic, content)
        if read:
            passage = Passage("one", 1, content, title, heading)
            assert isinstance(check_quote(read[0], question, passage), Quoted)
            found.append((read[0].interpretation, read[0].answer))
    return found


@pytest.mark.parametrize(
    ("question", "content", "phrase", "answer"),
    [
        ("gym", "The gym is on the fifth floor.", "gym", "on the fifth floor"),
        ("gym opening", "Gym opening: on request", "Gym opening", "on request"),
        ("old badge", "The old badge need not be returned.", "old badge", "The old badge need not be returned"),
        ("gift cards", "Gift cards cannot be exchanged for cash.", "Gift cards", "cannot be exchanged for cash"),
        ("heater extension cord", "Do not connect the heater to an extension cord.", "heater extension cord",
         "Do not connect the heater to an extension cord"),
        ("annual leave", "Each employee receives some annual leave.", "annual leave: employee",
         "receives some annual leave"),
        ("daemon", "The daemon must execute scripts in `/etc/cron.{hourly,daily}`.", "daemon",
         "must execute scripts in `/etc/cron.{hourly,daily}`"),
        ("dogs", "A dog usually costs half the price.", "dog", "usually costs half the price"),
        ("tariff", "The tariff is usually low; it rises in May.", "tariff", "usually low"),
        ("rental cars", "Rental cars can be picked up at 12 Harbor Street.", "Rental cars",
         "can be picked up at 12 Harbor Street"),
        ("rental cars", "The Gold Policy covers a rental car in any country where it is lawful for up to 31 days.",
         "rental cars: Gold Policy", "covers a rental car in any country where it is lawful for up to 31 days"),
    ],
)  # fmt: skip
def test_a_few_words_are_read_as_what_a_sentence_tells_of_them(
    question: str, content: str, phrase: str, answer: str
) -> None:
    assert readings(question, content) == [(phrase, answer)]


@pytest.mark.parametrize(
    ("question", "lead", "phrase", "answer"),
    [
        ("rental plan", "The rental plan does not cover:", "rental plan", "does not cover: fuel; tolls"),
        ("exclusions", "Examples of exclusions are:", "Examples of exclusions", "fuel; tolls"),
        ("rental plan", "These are left to the rental plan:", None, None),
        ("young drivers", "The rental plan does not cover:", None, None),
    ],
)  # fmt: skip
def test_a_list_is_told_with_what_introduces_it(
    question: str, lead: str, phrase: str | None, answer: str | None
) -> None:
    found = readings(question, f"{lead}\n\n- fuel\n- tolls\n")
    assert found == ([(phrase, answer)] if phrase else [])


def test_lines_below_a_heading_say_what_it_is_about() -> None:
    content = "Network: Guest-Net\nPassword: hunter2"
    assert readings("wifi", content, "Wifi") == [("wifi", "Network: Guest-Net; Password: hunter2")]


def test_a_singular_finds_its_plural() -> None:
    assert readings("taxi", "Taxis are booked at the front desk.") == [("Taxis", "booked at the front desk")]


def test_a_phrase_names_the_heading_that_tells_it_from_others() -> None:
    content = "The deposit is returned in person."
    assert readings("deposit", content, "Bikes", "Rental") == [("deposit (Rental)", "returned in person")]
    assert readings("deposit", content, "Bikes", "Options") == [("deposit (Bikes)", "returned in person")]
    assert readings("deposit", content, "Deposit") == [("deposit", "returned in person")]


@pytest.mark.parametrize(
    ("question", "content"),
    [
        ("coffee for visitors", "Coffee is free for the staff."),
        ("deposit", "It is returned with the deposit."),
        ("deposit", "Another deposit is returned in person."),
        ("deposit", "The deposit was heard of."),
        ("rental cars", "The Gold Policy covers the damage that a storm of ice does to all parked rental cars."),
        ("deposit", "Hopefully you get the deposit back soon."),
        ("deposit", "The deposit holds for both."),
        ("deposit", "In this case, the deposit is returned in person."),
        ("mail server", "We will have a closer look at this mail server in Section 11.1."),
    ],
)
def test_a_sentence_about_something_else_is_not_read(question: str, content: str) -> None:
    assert readings(question, content) == []


def test_the_first_sentence_below_a_heading_tells_of_it() -> None:
    content = "## Backup\n\nA command saves all documents and runs. Another one restores them."
    assert readings("backup", content, "Operations", "Operations > Backup") == [
        ("backup (Operations)", "A command saves all documents and runs")
    ]
    assert readings("backup plan", content, "Operations", "Operations > Backup") == []
    # A passage that continues a section does not begin with its heading.
    assert readings("backup", "A command saves all documents and runs.", "Operations", "Operations > Backup") == []
    assert readings("backup", "## Backup\n\nThis saves all documents and runs.", "Operations", "Backup") == []


def test_each_heading_and_the_title_of_a_document_are_readings_of_their_own() -> None:
    handbook = "# Expenses\n\nSend receipts within 30 days.\n\n# Parking\n\nSpaces are assigned by the front desk."
    assert readings("parking", handbook, "Staff handbook", "Expenses") == [
        ("parking (Staff handbook)", "Spaces are assigned by the front desk")
    ]
    assert readings("returns", "You can send back all within 45 days.", "Returns") == [
        ("returns", "You can send back all within 45 days")
    ]
    assert readings("fire drill", "Leave by the stairs. Lifts must not be used.", "Fire drill") == [
        ("fire drill", "Leave by the stairs")
    ]


def test_a_mark_that_links_to_a_heading_is_no_part_of_it() -> None:
    content = "The deposit is returned in person."
    assert readings("deposit", content, "Bikes", "Rental\u00b6") == [("deposit (Rental)", "returned in person")]


def test_a_row_names_its_column_if_that_says_something() -> None:
    header = "| Item | Daily limit | Meaning |\n|---|---|---|\n"
    row = "| Taxi | $25 | a car with a driver |"
    assert readings("taxi limit", header + row) == [("Taxi: daily limit", "$25")]
    assert readings("taxi", "| Item | Meaning |\n|---|---|\n| Taxi | a car with a driver |") == [
        ("Taxi", "a car with a driver")
    ]


def test_a_query_that_names_no_column_gets_the_whole_row() -> None:
    table = "| Role | Room | Phone | Meaning |\n|---|---|---|---|\n| Clerk | B1 | 310 | keeps the books |"
    assert readings("clerk", table) == [("Clerk", "room: B1; phone: 310; keeps the books")]


def test_a_bar_in_a_cell_moves_no_answer_to_another_column() -> None:
    header = "| Pattern | Default timeout | Size limit |\n|---|---|---|\n"
    told = [("red|blue: default timeout", "5 s"), ("red|blue: size limit", "10 MB")]
    (limit,) = readings("red size limit", header + "| `red\\|blue` | 5 s | 10 MB |")
    assert limit == told[1]
    (timeout,) = readings("red timeout", header + "| `red\\|blue` | 5 s | 10 MB |")
    assert timeout == told[0]
    # A bar that is not escaped, and a row whose last cell is missing.
    assert not {"5 s", "10 MB", "blue"}.intersection(
        answer for _, answer in readings("red size limit", header + "| red|blue | 5 s | 10 MB |")
    )
    assert readings("red timeout", header + "| red | 5 s |") == [("red: default timeout", "5 s")]
    assert readings("red size limit", header + "| red | | 10 MB |") == [("red: size limit", "10 MB")]


@pytest.mark.parametrize(
    "text",
    [
        "To create the user joe as a superuser, and assign a password immediately:",
        "SELECT am.amname AS index_method FROM pg_am am;",
        "`CREATE ROLE` `name` `[ WITH ]`",
        "The source is at https://example.org/source today.",
        "enable-multi-factor-authentication",
    ],
)
def test_code_captions_and_menus_are_no_sentences(text: str) -> None:
    assert not is_readable(text)


@pytest.mark.parametrize(
    "text",
    [
        "The staging database is called harbor_test.",
        "The config file lives in /etc/lantern/lantern.conf.",
        "Set `work_mem` to 64 MB for reports.",
        "Prevention costs less than repair.",
        "License: MIT",
        "The calendar is in /srv/shared/calendars/of-all-offices/2026/holidays.ics for everybody.",
    ],
)
def test_a_sentence_with_a_path_or_a_name_is_one(text: str) -> None:
    assert is_readable(text)


def test_a_question_for_a_definition_is_answered_by_a_plain_fact() -> None:
    read = readings("What is a hash index?", "A hash index is a table of hashes.")
    assert [answer for _, answer in read] == ["a table of hashes"]


def test_a_title_does_not_tell_which_task_a_command_is_for() -> None:
    assert readings("How do I install Oby?", "Stop Oby and delete its folder.", "Installing Oby", "Removing") == []


@pytest.mark.parametrize(
    ("question", "content"),
    [
        ("What is a hash index?", "It is clear why a hash index needs this: there is no order in it."),
        ("What is a hash index?", "A hash index is similar, in that it is small."),
        ("Where is the bus stop?", "The main entrance is opposite the garden."),
        ("How do I report a theft?", "A theft by the staff is paid if you report it."),
        ("How do I add a driver?", "Adding a driver adds to the price by $90."),
        ("who repairs bikes", "Bikes for the staff are red."),
        ("license", "We chose a free license."),
        ("What is a backup?", "Making a backup is the first of all duties."),
        ("superuser", "To create a superuser, and to give it a password."),
        ("maintainer scripts", "Ways maintainer scripts are called"),
        ("init scripts", "The init scripts must handle this correctly."),
        ("shared libraries", "Shared libraries\n:   Run-time shared libraries"),
        ("breaking binaries", "Removing it means immediately breaking binaries."),
    ],
)
def test_sentences_that_do_not_answer_are_not_read(question: str, content: str) -> None:
    assert readings(question, content) == []


@pytest.mark.parametrize(
    ("question", "heading", "sentence", "answer"),
    [
        ("jury duty", "Court leave (jury duty)", "When you are called to a court, your absence is paid.", True),
        ("parental leave", "Paid parental leave", "You are entitled to twelve weeks for a new child.", True),
        ("parental leave", "Parental bereavement leave", "You are entitled to two weeks after a loss.", False),
        ("parental leave", "Submitting paid parental leave requests in the portal", "You get a message.", False),
        ("archive", "Archive a channel", "Go to the console and select the channel from the list.", True),
        ("How do I archive?", "Archive", "Ask the owner of the channel in the list.", False),
    ],
)
def test_the_first_sentence_below_a_heading_that_names_the_query_answers_it(
    question: str, heading: str, sentence: str, answer: bool
) -> None:
    found = [one for _, one in readings(question, f"## {heading}\n\n{sentence}", None, heading)]
    assert found == ([sentence.rstrip(".")] if answer else [])


def test_a_list_below_a_heading_keeps_its_items() -> None:
    content = "## Backup\n\nOptions include:\n\n- a copy every night\n- a second server"
    assert readings("backup", content, None, "Backup")[0][1] == "Options include: a copy every night; a second server"


@pytest.mark.parametrize(
    ("sentence", "says_something"),
    [
        ("If the card is lost, follow these instructions.", False),
        ("Follow the steps below to request a new laptop.", False),
        ("Follow these steps to clean it: rinse it, and let it dry.", True),
        ("Follow the dress code of the client.", True),
        ("If you are sick, follow the instructions from your doctor.", True),
    ],
)
def test_a_sentence_that_only_points_to_what_follows_says_nothing(sentence: str, says_something: bool) -> None:
    assert is_readable(sentence) is says_something


@pytest.mark.parametrize(
    ("sentence", "answers"),
    [
        ("Backups are described in chapter two.", False),
        ("Backups are documented in writing within two days.", True),
        ("Yes. For more details about backups see the annex.", False),
        ("No. 5 backups cost ten dollars.", True),
    ],
)
def test_what_another_text_says_is_no_answer(sentence: str, answers: bool) -> None:
    assert bool(readings("backups", sentence, "Manual")) is answers


def test_what_is_asked_is_no_answer() -> None:
    asked = "mute a channel"
    for text in ("Feature: Mute a channel; Desktop:", "Mute a channel."):
        (piece,) = gather_evidence(text)
        assert read_whole(asked, piece, read_topic("Clients", None)) is None
