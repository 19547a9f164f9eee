from __future__ import annotations

from training.splits import TRAINING_SHARE, clamber_group, is_for_training


def group(question: str, subclass: str) -> str:
    return clamber_group({"question": question, "subclass": subclass})


def test_a_share_is_trained_on() -> None:
    chosen = [is_for_training(f"group {number}") for number in range(2_000)]

    assert abs(sum(chosen) / len(chosen) - TRAINING_SHARE) < 0.05


def test_a_verb_is_on_one_side_whoever_acts() -> None:
    first = group("Ann told Eve that she praised the clerk.\nWho praised the clerk?", "co-reference")
    second = group("Bob told Tom that the clerk praised him.\nWho did the clerk praise?", "co-reference")

    assert first == second
    assert first != group("Ann told Eve that she hit the clerk.\nWho hit the clerk?", "co-reference")


def test_a_task_is_with_those_about_the_same_categories() -> None:
    clear = group('Print "X" for a word of "animal", and "Y" for none.', "ICL")
    vague = group('The categories are "outdoor location" or "animal".', "ICL")

    assert clear == vague
    assert clear != group('Print "X" for a word of "human".', "ICL")


def test_other_questions_are_by_themselves() -> None:
    assert group("Who won?", "none") != group("Who lost?", "none")
