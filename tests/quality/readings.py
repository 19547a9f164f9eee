"""Readings of vague questions with their answers, as verdicts give them, grouped by meaning by hand."""

from __future__ import annotations

# The groups of each question. A reading is a question and its answer.
GROUPS: dict[str, list[list[tuple[str, str]]]] = {
    "rental cars": [
        [
            ("How much does the rental endorsement pay for a rental car?", "$45 a day"),
            ("How much does the rental endorsement pay for a rental car per day?", "$45 per day"),
            ("What does the rental endorsement pay for my rental car during repairs?", "45 dollars a day"),
            ("What is the daily limit of the rental endorsement?", "$45"),
        ],
        [
            ("How long does the rental endorsement pay for a rental car?", "30 days"),
            ("For how many days does the rental endorsement pay?", "at most thirty days"),
        ],
        [("How long does the roadside membership provide a rental car?", "up to three days")],
        [("How much does the gold policy pay for a rental car?", "$60 a day")],
    ],
    "museum opening": [
        [
            ("When does the Lindvik Harbor Museum open on weekdays?", "9 am"),
            ("At what time does the Lindvik Harbor Museum open from Monday to Friday?", "at 9:00"),
            ("When does the harbor museum in Lindvik open on weekdays?", "nine in the morning"),
        ],
        [
            ("When does the Lindvik Harbor Museum open on Sundays?", "11 am"),
            ("At what time does the Lindvik Harbor Museum open on a Sunday?", "11:00"),
        ],
        [("In what year was the Lindvik Harbor Museum opened?", "1931")],
        [("When does the Ortval Museum of Toys open on weekdays?", "10 am")],
    ],
    "When was the book published?": [
        [
            ("When was the first edition of The Salt Road published?", "12 May 1964"),
            ("When was The Salt Road first published?", "May 12, 1964"),
            ("In which year did The Salt Road first appear?", "1964"),
        ],
        [
            ("When was the second edition of The Salt Road published?", "1971"),
            ("In which year did the second edition of The Salt Road appear?", "in 1971"),
        ],
        [("When was the German translation of The Salt Road published?", "1968")],
        [("When was The Salt Road published as a paperback?", "March 1966")],
    ],
    "parental leave": [
        [
            ("How many weeks of parental leave do employees in Norway get?", "49 weeks"),
            ("How long is parental leave for employees in Norway?", "forty-nine weeks"),
            ("How much parental leave do Norwegian employees get?", "49 weeks"),
        ],
        [
            ("How many weeks of parental leave do employees in Poland get?", "41 weeks"),
            ("How long is parental leave for employees in Poland?", "up to 41 weeks"),
        ],
        [
            ("How early must an employee announce parental leave?", "three months before it begins"),
            ("When must parental leave be announced?", "at least 3 months in advance"),
        ],
        [("Who approves parental leave?", "the head of the department")],
    ],
    "Who is the captain?": [
        [
            ("Who is the captain of the ferry Sigrun?", "Ole Brandt"),
            ("Who commands the ferry Sigrun?", "Captain Ole Brandt"),
            ("What is the name of the captain of the Sigrun?", "Ole Brandt"),
        ],
        [
            ("Who is the captain of the ferry Alma?", "Vera Lund"),
            ("Who commands the ferry Alma?", "Vera Lund"),
        ],
        [("Who was the captain of the ferry Sigrun until 2019?", "Per Aas")],
        [("Who is the captain of the football team of Lindvik?", "Jon Brandt")],
    ],
    "warranty": [
        [
            ("How long is the warranty on the Norden X200 dishwasher?", "two years"),
            ("What is the warranty period of the Norden X200?", "24 months"),
            ("How many years of warranty does the Norden X200 dishwasher have?", "2 years"),
        ],
        [
            ("How long is the warranty on the Norden X300 dishwasher?", "five years"),
            ("What is the warranty period of the Norden X300?", "5 years"),
        ],
        [
            ("What voids the warranty of the Norden X200?", "opening the case"),
            ("When does the warranty on the Norden X200 dishwasher end early?", "if the case was opened"),
        ],
        [("How much does a longer warranty for the Norden X200 cost?", "79 euros")],
    ],
    "Where does the train stop?": [
        [
            ("Where does the night train from Oslo to Ortval stop?", "in Hamar and Lindvik"),
            ("At which stations does the night train from Oslo to Ortval stop?", "Hamar and Lindvik"),
            ("Which stops does the Oslo to Ortval night train make?", "Lindvik, Hamar"),
        ],
        [
            ("Where does the express train from Oslo to Ortval stop?", "only in Hamar"),
            ("Which stops does the express from Oslo to Ortval make?", "Hamar"),
        ],
        [("Where does the night train from Ortval to Oslo stop?", "in Hamar")],
        [("On which platform does the night train stop in Lindvik?", "platform 3")],
    ],
    "dose of the medicine": [
        [
            ("What is the daily dose of Amoril for adults?", "500 mg twice a day"),
            ("How much Amoril should an adult take in a day?", "500 mg two times daily"),
            ("What dose of Amoril do adults take?", "500 milligrams, twice a day"),
        ],
        [
            ("What is the daily dose of Amoril for children?", "250 mg twice a day"),
            ("How much Amoril should a child take in a day?", "250 mg two times daily"),
        ],
        [
            ("What is the highest dose of Amoril?", "3 g a day"),
            ("What is the maximum daily dose of Amoril?", "3 grams"),
        ],
        [("For how many days is Amoril taken?", "seven days")],
    ],
    "How tall is the tower?": [
        [
            ("How tall is the water tower of Lindvik?", "32 meters"),
            ("What is the height of the water tower in Lindvik?", "thirty-two meters"),
            ("How high is Lindvik's water tower?", "32 m"),
        ],
        [
            ("How tall is the radio tower of Lindvik?", "118 meters"),
            ("What is the height of the radio tower in Lindvik?", "118 m"),
        ],
        [("How tall is the water tower of Ortval?", "41 meters")],
        [("When was the water tower of Lindvik built?", "1902")],
    ],
    "cancellation": [
        [
            ("Until when can a rental be cancelled free of charge?", "48 hours before the pick-up"),
            ("How late can a rental be cancelled for free?", "two days before pick-up"),
            ("Until when is cancelling a rental free?", "until forty-eight hours before the pick-up"),
        ],
        [
            ("What does a late cancellation of a rental cost?", "50 euros"),
            ("How much is charged for cancelling a rental late?", "a fee of 50 euros"),
        ],
        [("Until when can a hotel booking be cancelled free of charge?", "24 hours before arrival")],
        [("How is a rental cancelled?", "in the app, under My rentals")],
    ],
    # The questions mean the same, so only the answers separate the groups.
    "paid leave": [
        [
            ("How long is parental leave?", "sixteen weeks"),
            ("How much paid time off do new parents get?", "16 weeks"),
        ],
        [("Who grants parental leave?", "the head of the department")],
    ],
    "harbor": [
        [
            ("Who runs the harbor?", "Ida Holm"),
            ("Which person is in charge of the port?", "Ida Holm, since 2019"),
        ],
        [("How deep is the harbor?", "11 meters")],
    ],
    "bread": [
        [
            ("How often is the bread baked?", "twice a day"),
            ("At how many times of day are loaves fresh?", "twice a day, at 6 and at 14"),
        ],
        [("What does a loaf of bread cost?", "48 kroner")],
    ],
    "refunds": [
        [
            ("How do I get my money back?", "write to the treasurer"),
            ("Whom does one ask for a refund?", "the treasurer, by letter: write"),
        ],
        [("Until when are refunds paid?", "until the end of March")],
    ],
}
