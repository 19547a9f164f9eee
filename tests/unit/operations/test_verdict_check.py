"""When a passage supports a verdict: right ones are kept, and wrong ones refused or doubted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pgclarify.data.documents import Passage
from pgclarify.data.verdicts import Reading, Refusal
from pgclarify.operations.judging.verdict_check import Quoted, check_quote


def passage(content: str, title: str | None = None) -> Passage:
    return Passage("d", 1, content, title=title, start_char=100)


MUSEUM = passage("The Lindvik Harbor Museum opens at 9 am. Dogs are welcome.")
LIFE = passage(
    "Ida Holm was a Norwegian painter who lived in Ortval. She was born in 1872 and died in Paris on 3 May 1944. "
    "The town council bought eighteen of her works in the 1950s."
)
POLICY = passage(
    "The rental reimbursement endorsement pays $45 a day for up to thirty days. It is not available in Lindvik County. "
    "A claim needs a receipt, a police report and a signed form. Members may park there free of charge."
)
REPORT = passage(
    "The revenue of the bank grew by 1.5 percent. The fee of the bank is €40, and the vault of the bank is kept at "
    "-20 °C. The lease of the bank was signed on 05/12/2024. The bank owns the Airbus A320."
)
COUNCIL = passage(
    "After the Second Vatican Council (1962 - 1965), another edition was published for the Roman Rite in 1983.",
    "Canon law",
)
NURSE = passage(
    "Matt Smith played the Doctor in season 5 of the series. Season 1 had Christopher Eccleston in the part.",
    "Doctor Who",
)
TABLE = passage(
    "The fees of 2026 are these, by the size of the boat.\n\n"
    "| Berth | Fee |\n|---|---|\n| Small | 40 crowns |\n| Large | 90 crowns |\n",
    "Harbor of Lindvik",
)
FURNITURE = passage(
    "The Alpina chair costs 240 euros. The Nordic desk costs 610 euros. Both are from the store.", "Furniture"
)
LIST = passage(
    "To cancel a booking you need the following:\n\n- the number of the booking\n- a written notice within 14 days\n"
)
CHURCH = passage(
    "The late Gothic church of Lindvik was built in 1872 to a design by Ida Holm , and is open on Mondays .\n"
    "The tower of the church was built in 1901."
)
JAPANESE = passage("リンドヴィク港博物館は午前9時に開館します。犬も歓迎です。")


def check(told: Passage, asked: str, answer: str, quote: str, *, question: str = "it?") -> Quoted | Refusal:
    return check_quote(Reading(asked, answer, quote), question, told)


def doubt_of(cited: Quoted | Refusal) -> Refusal | None:
    assert isinstance(cited, Quoted), cited
    return cited.doubt


@pytest.mark.parametrize(
    ("told", "asked", "answer", "quote"),
    [
        # Numbers, dates and times in other notations.
        (MUSEUM, "When does the Lindvik Harbor Museum open?", "at 9:00 a.m.", "Harbor Museum opens at 9 am"),
        (passage("Lindvik Church is red. It was founded in 1660 by the town."), "When was Lindvik Church built?",
         "1660", "It was founded in 1660 by the town."),
        (LIFE, "When did Ida Holm die in Paris?", "May 3, 1944",
         "She was born in 1872 and died in Paris on 3 May 1944."),
        (POLICY, "How long does the endorsement pay for a rental?", "30 days", "pays $45 a day for up to thirty days"),
        (LIFE, "What did the council buy in the 1950's?", "18 works",
         "The town council bought eighteen of her works in the 1950s."),
        (REPORT, "By how much did the revenue of the bank grow?", "1.50 %",
         "The revenue of the bank grew by 1.5 percent"),
        (REPORT, "How cold is the vault of the bank?", "-20 °C", "the vault of the bank is kept at -20 °C"),
        (REPORT, "When was the lease of the bank signed?", "5/12/2024",
         "The lease of the bank was signed on 05/12/2024"),
        # Half of the answer's words are in the quote, with any ending.
        (POLICY, "What does the rental endorsement pay a day?", "a payment of $45",
         "The rental reimbursement endorsement pays $45 a day"),
        # No passage has the words yes and no.
        (POLICY, "Is the endorsement available in Lindvik County?", "no", "It is not available in Lindvik County."),
        # Only the title has the name, and the sentence has a pronoun.
        (passage("She was born in 1872, and it was the sea that she painted.", "Ida Holm"),
         "When was Ida Holm born?", "1872", "She was born in 1872"),
        # Only the title has the words of the question, which apply to every sentence.
        (passage("Each day from 9 am to 5 pm. The crew sells the tickets on board.", "Ferry to Ortval"),
         "When does the ferry to Ortval run?", "9 am to 5 pm", "Each day from 9 am to 5 pm."),
        # Other forms of names: parts, adjectives, initials.
        (LIFE, "Where was Ida Maria Holm's home?", "Ortval", "Ida Holm was a Norwegian painter who lived in Ortval."),
        (passage("The Royal Institute of British Architects was founded in 1834 by the architects of the city."),
         "When was the RIBA founded?", "1834", "The Royal Institute of British Architects was founded in 1834"),
        (COUNCIL, "When was the Second Vatican Council held?", "1962 - 1965", COUNCIL.content),
        # Rows are read with their header, and items with their introduction.
        (TABLE, "What is the fee for a small berth in 2026?", "40 crowns",
         "| Small | 40 crowns |"),
        (LIST, "How soon must a notice to cancel a booking be given?", "within 14 days",
         "a written notice within 14 days"),
        # Texts in other languages are not compared by words, nor are texts that are too short to have a language.
        (JAPANESE, "When does the Lindvik Harbor Museum open?", "9 am", "リンドヴィク港博物館は午前9時に開館します。"),
        (passage("Bags: 1800"), "How much is paid for luggage?", "$1,800", "Bags: 1800"),
        # Names with underscores.
        (passage("The file PG_VERSION has the number. The setting mem_2 is in kB."),
         "What is in PG_VERSION, and what in mem_2?", "the number", "The file PG_VERSION has the number."),
        # A number that says how many things are asked for.
        (MUSEUM, "What are the top 3 opening hours of the museum, or the first 2?", "9 am",
         "The Lindvik Harbor Museum opens at 9 am."),
        # Another clause than that of the answer denies a word of the question.
        (passage("A rental car may be driven into Canada, and into no other country."),
         "Which country may the car be driven into?", "Canada",
         "A rental car may be driven into Canada, and into no other country."),
    ],
)  # fmt: skip
def test_a_verdict_that_its_passage_supports_is_kept(told: Passage, asked: str, answer: str, quote: str) -> None:
    cited = check(told, asked, answer, quote)
    assert isinstance(cited, Quoted), cited
    assert cited.doubt is None
    assert told.content[cited.start_char - 100 : cited.end_char - 100] == cited.quote


@pytest.mark.parametrize(
    ("told", "asked", "answer", "quote", "refusal"),
    [
        (MUSEUM, "When does the Lindvik Harbor Museum open?", "9 am", "It opens at nine.", Refusal.UNPROVEN),
        # The answer comes from the model's memory, or the model counted.
        (LIFE, "Where did Ida Holm live?", "in Ortval, Jutland, from 1872 to 1950",
         "Ida Holm was a Norwegian painter who lived in Ortval.", Refusal.ANSWER_NOT_QUOTED),
        (POLICY, "How many papers does a claim need?", "four",
         "A claim needs a receipt, a police report and a signed form.", Refusal.ANSWER_NOT_QUOTED),
        (MUSEUM, "When does the Lindvik Harbor Museum serve lunch?", "11:45 pm", "the", Refusal.ANSWER_NOT_QUOTED),
        # Numbers count as a whole, with their signs.
        (REPORT, "What is the fee of the bank?", "$40", "The fee of the bank is €40", Refusal.ANSWER_NOT_QUOTED),
        (REPORT, "When was the lease of the bank signed?", "12/05/2024",
         "The lease of the bank was signed on 05/12/2024", Refusal.ANSWER_NOT_QUOTED),
        (REPORT, "Which plane does the bank own?", "an Airbus A380", "The bank owns the Airbus A320",
         Refusal.ANSWER_NOT_QUOTED),
    ],
)  # fmt: skip
def test_an_answer_that_its_passage_does_not_have_is_refused(
    told: Passage, asked: str, answer: str, quote: str, refusal: Refusal
) -> None:
    assert check(told, asked, answer, quote) is refusal


@pytest.mark.parametrize(
    ("told", "asked", "answer", "quote", "doubt"),
    [
        # The quote is one word, and its whole sentence does not give the answer either.
        (MUSEUM, "When does the Lindvik Harbor Museum open?", "9 am", "Dogs", Refusal.FRAGMENT),
        # Another part of the passage has the answer.
        (LIFE, "When did Ida Holm die?", "3 May 1944", "Ida Holm was a Norwegian painter who lived in Ortval.",
         Refusal.ANSWER_NOT_QUOTED),
        # The passage denies what is asked.
        (passage("Swimming without a cap is not allowed in any of the pools.", "Pools"),
         "What is allowed?", "Swimming without a cap", "Swimming without a cap is not allowed in any of the pools.",
         Refusal.ABOUT_ANOTHER),
        (passage("The gym is not open on Saturdays. Towels are free for the members.", "Gym"),
         "When is the gym open?", "Saturdays", "The gym is not open on Saturdays.", Refusal.ABOUT_ANOTHER),
        # Names, years and numbers that the passage does not have.
        (MUSEUM, "When does the Lindvik Harbor Museum open in 2031?", "9 am",
         "The Lindvik Harbor Museum opens at 9 am.", Refusal.ABOUT_ANOTHER),
        (NURSE, "Who plays the Doctor in Dexter season 1?", "Christopher Eccleston",
         "Season 1 had Christopher Eccleston in the part.", Refusal.ABOUT_ANOTHER),
        (passage(NURSE.content.lower(), "doctor who"), "who plays the doctor in dexter season 1?",
         "christopher eccleston", "season 1 had christopher eccleston in the part.", Refusal.ABOUT_ANOTHER),
        # The proof has another identifier, and the passage has both.
        (passage("The total of INV-1043 is 90 euros. It was sent after INV-1042 was paid.", "Invoices"),
         "What is the total of INV-1042?", "90 euros", "The total of INV-1043 is 90 euros.", Refusal.ABOUT_ANOTHER),
        # The amount is another one's.
        (passage("A canoe costs members 6 EUR an hour, for guests 9 EUR."), "What do members pay for a canoe?",
         "9 EUR", "A canoe costs members 6 EUR an hour, for guests 9 EUR.", Refusal.ABOUT_ANOTHER),
        # The passage has nothing about the question.
        (MUSEUM, "Who wrote the opera about the flooded village?", "Lindvik",
         "The Lindvik Harbor Museum opens at 9 am.", Refusal.BESIDE_THE_POINT),
        # Words of the reading are not an answer.
        (LIFE, "What did Ida Holm paint in Ortval?", "Ida Holm",
         "Ida Holm was a Norwegian painter who lived in Ortval.", Refusal.ANSWER_NOT_QUOTED),
        # The quote is about something else than the question. Another part of the passage answers it, or none does.
        (LIFE, "When did the town council buy her works?", "1872",
         "She was born in 1872 and died in Paris on 3 May 1944.", Refusal.BESIDE_THE_POINT),
        (replace(POLICY, title="Rental cars"), "What is the fee to park a trailer?", "$45",
         "The rental reimbursement endorsement pays $45 a day", Refusal.BESIDE_THE_POINT),
        (POLICY, "Is parking free of charge for members?", "yes", "It is not available in Lindvik County.",
         Refusal.BESIDE_THE_POINT),
        # A large model is mostly right here.
        (passage("The default is UTC. Each job has its own."), "What is the timezone of a new schedule?", "UTC",
         "The default is UTC.", Refusal.BESIDE_THE_POINT),
    ],
)  # fmt: skip
def test_an_answer_that_its_passage_may_not_prove_is_cited_with_the_doubt(
    told: Passage, asked: str, answer: str, quote: str, doubt: Refusal
) -> None:
    cited = check(told, asked, answer, quote)
    assert isinstance(cited, Quoted), cited
    assert cited.doubt is doubt
    assert told.content[cited.start_char - 100 : cited.end_char - 100] == cited.quote


@pytest.mark.parametrize(
    ("told", "asked", "answer", "quote"),
    [
        # Two checks doubt it: that of the sentence is named.
        (MUSEUM, "When does the Lindvik Opera open in 2031?", "9 am", "Dogs"),
        (NURSE, "Who plays Dexter in season 1?", "Matt Smith", "Season 1 had Christopher Eccleston in the part."),
    ],
)
def test_what_is_about_another_thing_is_not_called_a_fragment(
    told: Passage, asked: str, answer: str, quote: str
) -> None:
    assert doubt_of(check(told, asked, answer, quote)) is Refusal.ABOUT_ANOTHER


def test_a_proof_that_names_another_thing_without_an_identifier_is_not_doubted() -> None:
    # Telling the things of a text apart cost more right readings than it found wrong ones.
    cited = check(FURNITURE, "How much does the Alpina desk cost?", "240 euros", "The Alpina chair costs 240 euros.")
    assert doubt_of(cited) is None


PRICES = passage(
    "Branch: BR-07; Name: Branch 7; Deposit: 879; Days until it is paid back: 10; Year: 2025\n"
    "Branch: BR-08; Name: Branch 8; Deposit: 886; Days until it is paid back: 11; Year: 2025"
)


@pytest.mark.parametrize(
    ("asked", "right", "wrong"),
    [
        ("What is the deposit at Branch 7?", "879 dollars", "10 dollars"),
        ("What is the deposit at Branch 7?", "879", "10"),
        ("After how many days does Branch 7 pay it back?", "10 days", "879 days"),
        ("What was asked for at Branch 7 in the year 2025?", "879", None),
        ("How much did Branch 7 take?", "879", None),
    ],
)
def test_a_number_of_a_row_is_that_of_the_column_which_is_asked_for(asked: str, right: str, wrong: str | None) -> None:
    row = PRICES.content.splitlines()[0]
    assert doubt_of(check(PRICES, asked, right, row)) is None
    assert wrong is None or doubt_of(check(PRICES, asked, wrong, row)) is Refusal.ABOUT_ANOTHER


@pytest.mark.parametrize(
    ("text", "asked", "right", "wrong"),
    [
        ("The shop opens at nine o'clock.", "When does the shop open?", "9 am", "10 am"),
        ("Goods may be returned within thirty days.", "How long may goods be returned?", "30 days", "30 hours"),
        ("A repair takes an hour and a half.", "How long does a repair take?", "90 minutes", "30 minutes"),
        ("The lift never runs on Sundays.", "Does the lift ever run on Sundays?", "no", "yes"),
        ("Breakfast is included in the rate.", "Is breakfast included?", "yes", "no"),
        ("Theft is covered, and loss is not covered.", "Does the policy cover theft?", "yes", "perhaps"),
    ],
)
def test_a_note_of_few_words_proves_only_what_it_says(text: str, asked: str, right: str, wrong: str) -> None:
    assert doubt_of(check(passage(text), asked, right, text)) is None
    cited = check(passage(text), asked, wrong, text)
    assert isinstance(cited, Refusal) or doubt_of(cited) is not None


@pytest.mark.parametrize(
    ("text", "asked", "answer"),
    [
        ("Ida Holm was born in Ortval and died in Paris.", "Was Ida Holm born in Paris?", "no"),
        ("You cannot enter the museum without a ticket.", "Do I need a ticket to enter the museum?", "yes"),
        ("The shop is open on Saturdays and is not open on Sundays.", "Is the shop open on Saturdays?", "yes"),
        ("Pets are not allowed in the pool but are allowed in the garden.", "Are pets allowed in the garden?", "yes"),
        ("The bag weighs 2 lb.", "How heavy is the bag?", "two pounds"),
        ("It takes an hour.", "How long does it take?", "one hour"),
    ],
)
def test_an_answer_that_a_note_implies_is_kept(text: str, asked: str, answer: str) -> None:
    assert doubt_of(check(passage(text), asked, answer, text)) is None


def test_the_question_above_an_answer_says_what_it_is_about() -> None:
    told = passage("**When do I get my deposit back?**\nWithin six weeks after the keys are returned. We write to you.")
    answer = "within six weeks"
    quote = "Within six weeks after the keys are returned."
    assert doubt_of(check(told, "When is the deposit paid back?", answer, quote)) is None
    other = check(told, "When is the deposit paid back?", "We write", "We write to you.")
    assert doubt_of(other) is Refusal.BESIDE_THE_POINT


def test_an_answer_in_another_language_may_write_a_number_otherwise() -> None:
    asked, quote = "Um wie viel ist der Umsatz der Bank gewachsen?", "The revenue of the bank grew by 1.5 percent"
    assert isinstance(check(REPORT, asked, "1,5 Prozent", quote, question=asked), Quoted)
    assert check(REPORT, asked, "1,7 Prozent", quote, question=asked) is Refusal.ANSWER_NOT_QUOTED


def test_a_name_of_the_question_counts_even_where_the_reading_drops_it() -> None:
    asked = (
        "Who played the Doctor in season 1?",
        "Christopher Eccleston",
        "Season 1 had Christopher Eccleston in the part.",
    )
    assert doubt_of(check(NURSE, *asked, question="Who played the Doctor in season 1?")) is None
    other = check(NURSE, *asked, question="Who plays the doctor in Dexter season 1?")
    assert doubt_of(other) is Refusal.ABOUT_ANOTHER


def test_a_statement_may_have_the_answer_in_it() -> None:
    told = "Ida Holm lived in Ortval."
    quote = "Ida Holm was a Norwegian painter who lived in Ortval."
    assert doubt_of(check(LIFE, told, "Ortval", quote, question="Where did she live?")) is None
    other = check(LIFE, told, "Ortval", quote, question="Who lived in Ortval?")
    assert doubt_of(other) is Refusal.ANSWER_NOT_QUOTED


@pytest.mark.parametrize("quote", ["1872", "born in 1872"])
def test_a_short_quote_is_cited_as_its_sentence(quote: str) -> None:
    cited = check(LIFE, "When was Ida Holm born?", "1872", quote)
    assert isinstance(cited, Quoted)
    assert cited.quote == "She was born in 1872 and died in Paris on 3 May 1944."
    assert LIFE.content[cited.start_char - 100 : cited.end_char - 100] == cited.quote


@pytest.mark.parametrize(
    "quote",
    [
        "The church of Lindvik was built in 1872.",
        "The church of Lindvik was built in 1872 to a design by Ida Holm, and is open on Mondays.",
    ],
)
def test_a_quote_that_leaves_out_modifiers_or_blanks_is_cited_as_the_sentence_of_the_document(quote: str) -> None:
    cited = check(CHURCH, "When was the church of Lindvik built?", "1872", quote)
    assert isinstance(cited, Quoted)
    assert cited.quote == CHURCH.content.partition("\n")[0]
    assert CHURCH.content[cited.start_char - 100 : cited.end_char - 100] == cited.quote


@pytest.mark.parametrize(
    ("text", "asked", "answer", "quote"),
    [
        # A negation or a condition is missing.
        ("The museum is not open on Sundays.", "When is the museum open?", "Sundays", "The museum is open on Sundays."),
        ("Entry is free only for members.", "Is entry free?", "yes", "Entry is free for members."),
        # The price is another one's.
        (
            "Tickets of the museum: adults 20 crowns, children 10 crowns.",
            "What do tickets of the museum cost adults?",
            "10 crowns",
            "Tickets of the museum: adults 10 crowns.",
        ),
        # The sentence is about another thing.
        (
            "Ida Holm's teacher painted the harbor.",
            "Who painted the harbor?",
            "Ida Holm",
            "Ida Holm painted the harbor.",
        ),
        ("Ida Holm beat Jon Berg in Ortval.", "Who won in Ortval?", "Jon Berg", "Jon Berg beat Ida Holm in Ortval."),
        ("The hall closes at 9, and its café opens at 8.", "When does the hall open?", "8", "The hall opens at 8."),
        # The rest of a clause is missing, or a noun.
        ("Ida Holm teaches French, Jon Berg German.", "Who teaches German?", "Ida Holm", "Ida Holm teaches German."),
        (
            "The museum director Jon Berg opened the hall.",
            "Who opened the hall?",
            "The museum",
            "The museum opened the hall.",
        ),
        # A word, or a part of one, turns the meaning round.
        ("Members don't pay a joining fee.", "What do members pay?", "a joining fee", "Members pay a joining fee."),
        (
            "The deposit is a non-refundable amount.",
            "What is the deposit?",
            "refundable amount",
            "The deposit is a refundable amount.",
        ),
        (
            "The museum of Lindvik is rarely open on Sundays.",
            "When is the museum of Lindvik open?",
            "Sundays",
            "The museum of Lindvik is open on Sundays.",
        ),
        (
            "Entry costs a fee of twenty crowns.",
            "What does entry cost?",
            "a fee of crowns",
            "Entry costs a fee of crowns.",
        ),
        # A number or a name is not in the sentence.
        ("The museum opens at 9 am.", "When does the museum open?", "10 am", "The museum opens at 10 am."),
        # A few words may be anywhere.
        ("The museum late in the year opens.", "When does the museum open?", "late", "The museum opens."),
    ],
)
def test_a_quote_that_leaves_out_what_changes_the_meaning_is_not_found(
    text: str, asked: str, answer: str, quote: str
) -> None:
    assert check(passage(f"{text} Pay them at the door."), asked, answer, quote, question=asked) is Refusal.UNPROVEN


def test_a_quote_in_another_language_leaves_out_no_word() -> None:
    # The negation of another language would not be recognized.
    text = "Das alte Museum ist im Winter nicht offen. Hunde dürfen in den Garten."
    quote = "Das Museum ist im Winter nicht offen."
    assert check(passage(text), "Wann ist das Museum offen?", "Winter", quote) is Refusal.UNPROVEN


@pytest.mark.parametrize(
    ("asked", "doubt"),
    [
        ("When was the church of Lindvik built?", None),
        ("When was the church of Brenn built?", Refusal.ABOUT_ANOTHER),
        ("Which bell rings loudest?", Refusal.BESIDE_THE_POINT),
    ],
)
def test_a_sentence_that_a_quote_says_in_other_words_passes_the_other_checks_too(
    asked: str, doubt: Refusal | None
) -> None:
    cited = check(CHURCH, asked, "1872", "The church of Lindvik was built in 1872.", question=asked)
    assert isinstance(cited, Quoted)
    assert (cited.doubt, cited.is_repaired) == (doubt, True)


@pytest.mark.parametrize(
    ("asked", "answer", "quote"),
    [
        # Another amount, another name, and "not" left out.
        ("What does the rental reimbursement endorsement pay a day?", "$60",
         "The rental reimbursement endorsement pays $60 a day for thirty days."),
        ("What does the theft endorsement of Ortval pay a day?", "$45", "The theft endorsement pays $45 a day."),
        ("Is the endorsement available in Lindvik County?", "yes", "The endorsement is available in Lindvik County."),
        # The answer is in it only in other words.
        ("How long does the rental reimbursement endorsement pay?", "30 days",
         "rental reimbursement endorsements pay you $45 each day for up to 30 days"),
    ],
)  # fmt: skip
def test_a_quote_that_is_only_nearly_in_the_passage_proves_nothing(asked: str, answer: str, quote: str) -> None:
    assert check(POLICY, asked, answer, quote, question=asked) is Refusal.UNPROVEN


@pytest.mark.parametrize(
    ("text", "asked", "answer", "quote", "expected"),
    [
        # The quote cuts a word or number that the answer rests on.
        ("The fee of the pool is 400 euros a day.", "What is the fee of the pool?", "40", "The fee of the pool is 40",
         Refusal.UNPROVEN),
        ("The leave of interns is unpaid for a week.", "Is the leave paid or not?", "paid", "paid for a week",
         Refusal.UNPROVEN),
        ("Bertram Lindgren leads the desk in Oby.", "Who leads the desk?", "Bertram Lind", "Bertram Lind",
         Refusal.UNPROVEN),
        ("The price of a boat is 1,250.50 euros.", "What is the price of a boat?", "1 euro", "The price of a boat is 1",
         Refusal.UNPROVEN),
        ("The fee of the pool is 40 million euros.", "What is the fee of the pool?", "40 dollars",
         "The fee of the pool is 40", Refusal.ANSWER_NOT_QUOTED),
        # It only leaves out a unit, or cuts another word.
        ("The fee of the pool is 40 euros a day.", "What is the fee of the pool?", "40", "The fee of the pool is 40",
         "The fee of the pool is 40 euros a day."),
        ("Bertram Lindgren leads the desk in Oby.", "Where is the desk?", "in Oby", "gren leads the desk in Oby",
         "Lindgren leads the desk in Oby"),
        # The sentence takes it back, or limits it.
        ("Nobody believes that the fee is 40 euros.", "What is the fee?", "40 euros", "the fee is 40 euros",
         Refusal.ABOUT_ANOTHER),
        ("The fee is 40 euros a day, which is not true.", "What is the fee?", "40 euros", "The fee is 40 euros a day",
         "The fee is 40 euros a day, which is not true."),
        ("If you come late, the fee is 40 euros.", "What is the fee?", "40 euros", "the fee is 40 euros",
         "If you come late, the fee is 40 euros."),
        ("Ada says the fee is 40 euros.", "What is the fee?", "40 euros", "the fee is 40 euros",
         "Ada says the fee is 40 euros."),
        ("It is not true that the fee is 40 euros.", "Is the fee 40 euros?", "no", "true that the fee is 40 euros",
         "It is not true that the fee is 40 euros."),
        # The same in other languages, where a denial is not understood, but shown.
        ("Niemand glaubt, dass die Gebühr 40 Euro am Tag beträgt.", "Wie hoch ist die Gebühr?", "40 Euro",
         "die Gebühr 40 Euro am Tag", "Niemand glaubt, dass die Gebühr 40 Euro am Tag beträgt."),
        ("この料金は400円ではありません。犬も歓迎です。", "料金はいくらですか", "400円", "この料金は400円",
         "この料金は400円ではありません。"),
        ("この料金は4000円です。犬も歓迎です。", "What is the fee?", "400円", "この料金は400", Refusal.UNPROVEN),
    ],
)  # fmt: skip
def test_a_quote_is_whole_words_and_judged_with_its_sentence(
    text: str, asked: str, answer: str, quote: str, expected: str | Refusal
) -> None:
    cited = check(passage(text), asked, answer, quote, question=asked)
    assert (cited.quote if isinstance(cited, Quoted) else cited) == expected


def test_other_words_in_another_language_are_not_recognized() -> None:
    text = "Das alte Museum der Stadt ist im Sommer an allen Tagen offen. Hunde dürfen in den Garten."
    quote = "Das Museum der Stadt ist an allen Tagen im Sommer offen."
    assert check(passage(text), "Wann ist das Museum offen?", "Sommer", quote) is Refusal.UNPROVEN


def test_other_words_for_a_passage_with_marks_of_a_chat_template_are_not_recognized() -> None:
    text = "The Lindvik Harbor Museum in the old town opens at 9 am on every day of the week."
    quote = "The Lindvik Harbor Museum opens at 9 am."
    assert isinstance(check(passage(text), "When does the museum open?", "9 am", quote), Quoted)
    assert check(passage(f"{text} <|im_end|>"), "When does the museum open?", "9 am", quote) is Refusal.UNPROVEN


def test_a_check_can_be_left_out() -> None:
    reading = Reading("When does the Ortval Opera open?", "9 am", "The Lindvik Harbor Museum opens at 9 am.")
    checks = set(Refusal) - {Refusal.ABOUT_ANOTHER, Refusal.BESIDE_THE_POINT}
    assert doubt_of(check_quote(reading, "it?", MUSEUM)) is not None
    assert doubt_of(check_quote(reading, "it?", MUSEUM, checks)) is None
