from __future__ import annotations

from pgclarify.algorithms.ambiguity import AmbiguityKind
from training.examples import Example, everyday, made


def clear(question: str, *history: str, source: str = "clamber") -> Example:
    return Example(source, f"group of {question}", question, history, False, None)


TALK = clear("How old was he?", "Who played the part?", "An actor", source="abg-coqa")


def test_a_pronoun_takes_the_place_of_a_name_and_the_object_is_blurred() -> None:
    named = clear("Who is the director of the film Dune?")
    examples = {example.source: example for example in made([named, TALK])}

    assert all("Dune" not in examples[source].question for source in ("pronoun", "blurred", "name dropped"))
    assert examples["name dropped"].question == "Who is the director of the film?"
    assert examples["pronoun"].kind is AmbiguityKind.PRAGMATIC
    assert examples["blurred"].kind is AmbiguityKind.SYNTACTIC
    assert all(examples[source].is_ambiguous for source in ("pronoun", "blurred", "name dropped"))


def test_made_up_examples_stay_in_their_group_and_weigh_less() -> None:
    named = clear("Who is the director of the film Dune?")

    for example in made([named, TALK]):
        assert example.group in {named.group, TALK.group}
        assert example.weight < 1


def test_a_named_matter_stays_clear_after_other_turns() -> None:
    (other,) = [one for one in made([clear("When did Ada Byron marry?"), TALK]) if one.source == "other history"]

    assert other.history == TALK.history
    assert not other.is_ambiguous


def test_a_question_that_points_back_is_ambiguous_without_history() -> None:
    (bare,) = [one for one in made([TALK]) if one.source == "no history"]

    assert bare.history == ()
    assert bare.is_ambiguous


def test_the_same_is_made_each_time() -> None:
    examples = [clear("Who is the director of the film Dune?"), clear("When did Ada Byron marry?"), TALK]

    assert made(examples) == made(examples)


def test_everyday_questions_are_clear_or_vague_and_each_is_there_once() -> None:
    examples = everyday()
    questions = [example.question.lower() for example in examples]

    assert len(set(questions)) == len(questions)
    assert all(question.strip() == question and question for question in questions)
    for is_ambiguous in (False, True):
        assert sum(example.is_ambiguous is is_ambiguous for example in examples) >= 100
    assert not any(example.is_labelled for example in examples)


def test_only_examples_that_people_labelled_count_as_labelled() -> None:
    named = clear("Who is the director of the film Dune?")

    assert named.is_labelled
    assert not any(example.is_labelled for example in made([named, TALK]))
