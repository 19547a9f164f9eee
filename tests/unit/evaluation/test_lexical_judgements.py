"""Many judgements of the lexical judge are those of lexical_judgements.txt. If one changes, its version is increased.

The judge shares rules about words, numbers and quotes with other code, so a change of these rules may change its
judgements. A change of comments does not change its version.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pgclarify.evaluated import Stated
from pgclarify.evaluation.lexical_judge import VERSION, LexicalJudge
from pgclarify.model import Passage

JUDGEMENTS = Path(__file__).with_name("lexical_judgements.txt")
HEAD = """\
# What the lexical judge says, written by `make snapshots`. Where a line changes, its version has to.
# judgement | the reading (+ yes, - no, for each passage, each other reading, each question)
"""
PASSAGES = [
    Passage("a", 1, "The museum has 12 boats. From April to October the harbor museum opens at 9 am.", "Lindvik"),
    Passage("b", 2, "Its new building was opened in 1931. A pier was added in 1954.", "Lindvik Harbor Museum"),
    Passage("c", 3, "Mrs. Ida Holm (1872-1931) was a painter. She didn't sell any of her 1,200 paintings.", "Ida Holm"),
    Passage("d", 4, "Dr. I. Holm, of Ortval, paid $3.5 million for the castle, i.e. one third of its price."),
    Passage("e", 5, "The queen is played by Ida Holm in the film and by Ada Berg in the series.", "Castle", "Cast"),
    Passage("f", 6, "Tickets: adults 40 crowns; children half. Dogs are not allowed, except guide dogs.", "Prices"),
    Passage("g", 7, "The well-known twenty-first festival took place on the 3rd of May 2019, for two weeks."),
    Passage(
        "h", 8, "\u201cStra\u00dfe der Helden\u201d was r\u00e9alis\u00e9 by J\u00fcrgen M\u00fcller\u2019s company."
    ),
    Passage("i", 9, "1. Open the lid. 2. Wait ten minutes! 3. Close it again? No. 5 Main Street is closed."),
    Passage("j", 10, "It rises 50 m above the sea, or 164 ft. The summit was first climbed in the nineteenth century."),
]
READINGS = [
    Stated("At what time does the harbor museum of Lindvik open?", ("9 am", "nine o'clock")),
    Stated("When does the museum open in summer?", ("9:00",)),
    Stated("When in the morning does the harbor museum open?", ()),
    Stated("In what year was the new building of the Lindvik Harbor Museum opened?", ("1931",)),
    Stated("When was the pier of the museum added?", ("in the year 1954",)),
    Stated("When was a pier added?", ("54",)),
    Stated("How many boats does the museum have?", ("twelve",)),
    Stated("How many ships are in the museums?", ("a dozen",)),
    Stated("When did Ida Holm die?", ("1931",)),
    Stated("When was Ida Holm born?", ("1872",)),
    Stated("What was Mrs Holm's profession?", ("painter", "a painter")),
    Stated("How many of her paintings did Ida Holm sell?", ("none",)),
    Stated("How many paintings did she have?", ("1200", "1.2 thousand")),
    Stated("Who bought the castle?", ("I. Holm",)),
    Stated("Who paid for Ortval's castle?", ("Ida Holm",)),
    Stated("What did the castle cost?", ("3,500,000 dollars", "$3.5 million")),
    Stated("Which share of the price was paid?", ("a third", "1/3")),
    Stated("Who played the queen in the film?", ("Ida Holm",)),
    Stated("Who plays the queen in the series?", ("Ada Berg",)),
    Stated("Who is the actress of the queen?", ("Holm",)),
    Stated("What does a ticket cost for adults?", ("forty crowns",)),
    Stated("Are dogs allowed?", ("No",)),
    Stated("Are guide dogs allowed?", ("Yes, they are",)),
    Stated("When did the 21st festival take place?", ("3 May 2019", "May 3rd, 2019")),
    Stated("How long did the festival last?", ("a fortnight", "two weeks")),
    Stated("Who made Strasse der Helden?", ("Jurgen Muller",)),
    Stated("How long does one wait?", ("10 minutes",)),
    Stated("Which street is closed?", ("No. 5 Main Street",)),
    Stated("How high is it?", ("50 metres", "164 feet")),
    Stated("When was the summit climbed first?", ("19th century",)),
    Stated(None, ("9 am",)),
    Stated(None, ("Ida Holm",)),
    Stated(None, ("1931",)),
    Stated("What is it?", ()),
]
QUESTIONS = ("harbor museum", "When does the museum open?", "Who played the queen?", "castle", "Ida Holm's dogs", "?")


async def test_judgements_are_those_of_their_version(check_snapshot: Callable[[Path, str], None]) -> None:
    lines = [f"version | {VERSION}", *await _judged()]
    known = JUDGEMENTS.read_text(encoding="utf-8").removeprefix(HEAD).splitlines() if JUDGEMENTS.exists() else []
    assert known[:1] != lines[:1] or known == lines, "give the lexical judge another version, and run `make snapshots`"
    check_snapshot(JUDGEMENTS, HEAD + "".join(f"{line}\n" for line in lines))


async def _judged() -> list[str]:
    judge = LexicalJudge()
    lines = []
    for reading in READINGS:
        supports = await judge.supports([(reading, [passage]) for passage in PASSAGES])
        matches = await judge.matches("", READINGS, [reading])
        relevant = [(await judge.relevant(question, [reading]))[0] for question in QUESTIONS]
        said = reading.interpretation or reading.answers[0]
        lines += [
            f"{judgement} | {said} | {''.join('+' if one else '-' for one in judged)}"
            for judgement, judged in (("supports", supports), ("matches", matches), ("relevant", relevant))
        ]
    distinct = await judge.distinct("", READINGS)
    return [*lines, f"distinct | all | {' '.join(map(str, distinct))}"]
