"""The shipped classifier separates clear questions from vague ones with its own threshold.

The questions were written before any classifier judged them, and none was removed afterwards.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence

from pgclarify.algorithms.ambiguity import AmbiguityClassifier
from pgclarify.embedding import LocalEmbedder

CLEAR = (
    "What is the capital of Norway?",
    "In what year was the Eiffel Tower completed?",
    "Who wrote the novel Pride and Prejudice?",
    "How many players of one team are on the field in a football match of the Premier League?",
    "What is the boiling point of water at sea level in degrees Celsius?",
    "Which river flows through Vienna?",
    "How many days of annual leave does a full-time employee of Lindvik Shipyard get in their first year?",
    "What is the deductible of the Wayfarer travel policy for a lost suitcase?",
    "Who was the first woman to win the Nobel Prize in Physics?",
    "When did Finland join the European Union?",
    "How long is the warranty on the Norden X200 dishwasher?",
    "What does the abbreviation HTTP stand for?",
    "Which PostgreSQL command shows the execution plan of a query?",
    "At which temperature is the vaccine BNT162b2 stored before it is thawed?",
    "Who directed the 1994 film The Shawshank Redemption?",
    "How much does a monthly adult ticket for zone A of the Bergen tram cost in 2025?",
    "On which date does the early-bird registration for the 2026 Oslo Chemistry Conference end?",
    "What is the chemical symbol of potassium?",
    "How far is it from Berlin to Hamburg by rail?",
    "Which form must an employee of the Ortval Clinic submit to report a needlestick injury?",
    "What was the population of Iceland on 1 January 2020?",
    "Who was the chief executive of the Swedish company Ericsson in 2024?",
    "Is the Lindvik Harbor Museum open on Christmas Day?",
    "How many chromosomes does a healthy human body cell have?",
)
VAGUE = (
    "How old is he?",
    "When does it open?",
    "What is the best one?",
    "jaguar",
    "rental cars",
    "How much does it cost?",
    "Who won?",
    "Where is the bank?",
    "Tell me about Mercury.",
    "What did they decide?",
    "How long does that take?",
    "python",
    "Can I bring mine?",
    "When is the deadline?",
    "parental leave",
    "What is the population?",
    "Why did she leave?",
    "How do I get there?",
    "Who is the president?",
    "What about the other policy?",
    "Is this covered?",
    "Give me some tips.",
    "Which version should I use?",
    "When was the last war?",
)
CLEAR_WITHIN = (
    ("In which year was Jane Austen born?", ["Who wrote Emma?", "Jane Austen."]),
    (
        "At what time does the Alma leave Lindvik on Sundays?",
        ["Which ferries go to Lindvik?", "The Sigrun and the Alma."],
    ),
    ("How many people live in Lima?", ["What is the capital of Peru?", "Lima."]),
    ("How much is a ticket for an adult at the museum?", ["Is the museum open today?", "Yes, until 5 pm."]),
    ("Where did Ida Holm learn to bake?", ["Who founded the bakery?", "Ida Holm."]),
    ("What did the grey cat eat?", ["What color was the cat?", "It was grey."]),
    ("Who scored the winning goal for Spain?", ["Which team won the 2010 World Cup?", "Spain."]),
    ("How much does the policy pay for a stolen bicycle?", ["Does the policy cover theft?", "Yes."]),
    ("How did Tom get to school?", ["Where did Tom go?", "To school."]),
    ("How many weeks does the course last?", ["When does the course begin?", "On 3 March."]),
)
# As vague as the next questions when they are read alone.
RESOLVED_WITHIN = (
    ("When was she born?", ["Who wrote Emma?", "Jane Austen."]),
    ("When does it leave?", ["Which ferry goes to Ytre Sund?", "The Alma."]),
    ("How many people live there?", ["What is the capital of Peru?", "Lima."]),
    ("What does it cost?", ["Is there a premium policy?", "Yes, there is one."]),
    ("Where did she learn to bake?", ["Who founded the bakery?", "Ida Holm."]),
    ("What did it eat?", ["What color was the cat?", "It was grey."]),
    ("Who scored its winning goal?", ["Which team won the 2010 World Cup?", "Spain."]),
    ("How long did it last?", ["What happened on Sunday?", "There was a storm."]),
    ("How did he get there?", ["Where did Tom go?", "To school."]),
    ("How many weeks does it last?", ["When does the course begin?", "On 3 March."]),
)
VAGUE_WITHIN = (
    ("When did she leave?", ["Where did Ann meet Eve?", "At the station; they talked about the trip."]),
    ("When does it leave?", ["Which ferries go to Lindvik?", "The Sigrun and the Alma."]),
    ("Where was she born?", ["Who were the founders?", "Ida Holm and Vera Lund."]),
    ("Was he tired?", ["What did the brothers do?", "Tom fished, and Sam cooked."]),
    ("What does it cost?", ["Which policies are there?", "The basic one and the premium one."]),
    ("Which one?", ["Did the dogs fight?", "Yes, Rex and Bello did."]),
    ("What did they see there?", ["Where did they travel?", "To Rome and to Paris."]),
    ("What did he say?", ["Who spoke at the meeting?", "The mayor and the engineer."]),
    ("How long did it last?", ["What happened?", "There was a storm and a fire."]),
    ("When was it published?", ["Which books did she write?", "Emma and Persuasion."]),
)


async def judge(embedder: LocalEmbedder, asked: Sequence[tuple[str, Sequence[str]]]) -> dict[str, float]:
    """How probable it is that each question is ambiguous."""
    classifier = AmbiguityClassifier.load()
    vectors = await embedder.encode([text for question in asked for text in classifier.inputs(*question)])
    judged = classifier.judge(asked, vectors)
    return {question: one.probability for (question, _), one in zip(asked, judged, strict=True)}


async def test_most_clear_questions_are_called_clear(embedder: LocalEmbedder) -> None:
    judged = await judge(embedder, [(question, []) for question in CLEAR])
    wrong = [question for question, probability in judged.items() if probability >= AmbiguityClassifier.threshold]
    # 2 of 24: "What does the abbreviation HTTP stand for?", 0.62, and "At which temperature is the vaccine …", 0.53.
    assert len(wrong) <= 3, wrong


async def test_most_vague_questions_are_called_ambiguous(embedder: LocalEmbedder) -> None:
    judged = await judge(embedder, [(question, []) for question in VAGUE])
    wrong = [question for question, probability in judged.items() if probability < AmbiguityClassifier.threshold]
    # 1 of 24: "Tell me about Mercury.", 0.30.
    assert len(wrong) <= 2, wrong


async def test_probabilities_of_clear_and_vague_questions_are_far_apart(embedder: LocalEmbedder) -> None:
    vague = await judge(embedder, [(question, []) for question in VAGUE])
    clear = await judge(embedder, [(question, []) for question in CLEAR])
    losses = [-math.log(one) for one in vague.values()] + [-math.log(1 - one) for one in clear.values()]
    # Log loss: 0.174; without any of its parts 0.20 to 0.45.
    assert statistics.mean(losses) <= 0.19, (vague, clear)


async def test_most_clear_questions_of_a_conversation_are_called_clear(embedder: LocalEmbedder) -> None:
    judged = await judge(embedder, CLEAR_WITHIN)
    wrong = [question for question, probability in judged.items() if probability >= AmbiguityClassifier.threshold]
    # None of 10; the highest is 0.25.
    assert len(wrong) <= 1, wrong


async def test_vague_questions_of_a_conversation_are_more_probably_ambiguous_than_clear_ones(
    embedder: LocalEmbedder,
) -> None:
    vague, clear = await judge(embedder, VAGUE_WITHIN), await judge(embedder, CLEAR_WITHIN)
    # 1.00, from 0.26 on. By the default threshold 9 of 10 are called clear, all but "Which one?", 0.60: probabilities
    # within a conversation are those of data where one question of eight is ambiguous.
    assert in_order(vague, clear) >= 0.95, vague


async def test_a_vague_question_is_less_probably_ambiguous_if_the_conversation_says_what_is_meant(
    embedder: LocalEmbedder,
) -> None:
    vague, resolved = await judge(embedder, VAGUE_WITHIN), await judge(embedder, RESOLVED_WITHIN)
    # 0.88; 0.79 if the conversation is not read.
    assert in_order(vague, resolved) >= 0.86, (vague, resolved)


def in_order(higher: Mapping[str, float], lower: Mapping[str, float]) -> float:
    """The share of all pairs in which the first value is higher. Ties count half."""
    pairs = [(one, other) for one in higher.values() for other in lower.values()]
    return statistics.mean((one > other) + (one == other) / 2 for one, other in pairs)
