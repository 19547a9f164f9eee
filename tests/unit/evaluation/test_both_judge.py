"""The judge that combines the lexical one and a model: only both together make a reading supported."""

from pgclarify.evaluated import Stated
from pgclarify.evaluation.both_judge import BothJudge
from pgclarify.evaluation.lexical_judge import LexicalJudge
from pgclarify.evaluation.model_judge import ModelJudge
from pgclarify.model import Passage
from pgclarify.prompts.versions import JUDGE_VERSIONS, combined
from pgclarify.protocols import Judge
from tests.fakes import FakeLedger, scripts
from tests.fakes.completer import ScriptedCompleter

QUESTION = "When does the museum open?"
HOUR = Stated("At what time does the museum open?", ("9 am",))
MONTH = Stated("In which month does the museum open?", ("May",))
YEAR = Stated("In what year was the museum opened?")
SAME = Stated("At what time of day does the museum open?", ("9 am",))
HOURS = Passage("a", 1, "The museum opens at 9 am.")


def judge_of(model: ScriptedCompleter) -> BothJudge:
    return BothJudge(ModelJudge(FakeLedger(), model))


async def test_a_reading_is_supported_if_both_say_so() -> None:
    model = scripts.judge_model({f"support: {HOUR.interpretation}": "true"}, otherwise="false")
    # The model is only asked about readings with their words in the passage, and each gets its own judgement.
    readings = [MONTH, SAME, YEAR, HOUR]
    assert await judge_of(model).supports([(one, [HOURS]) for one in readings]) == [False, False, False, True]
    assert [prompt.question for prompt in model.asked("judge_support")] == [SAME.interpretation, HOUR.interpretation]


async def test_the_rules_are_milder_than_those_of_the_lexical_judge() -> None:
    claims = [(SAME, [HOURS])]
    assert await LexicalJudge().supports(claims) == [False]
    assert await judge_of(scripts.judge_model(otherwise="true")).supports(claims) == [True]


async def test_a_model_alone_supports_nothing() -> None:
    model = scripts.judge_model(otherwise="true")
    assert await judge_of(model).supports([(one, [HOURS]) for one in (MONTH, YEAR)]) == [False, False]
    assert model.calls == []


async def test_what_takes_no_passage_is_judged_by_words_alone() -> None:
    model = scripts.judge_model(otherwise="never asked")
    readings, both, lexical = [HOUR, SAME, MONTH, YEAR], judge_of(model), LexicalJudge()
    for judge in (both, lexical):
        assert await judge.matches(QUESTION, readings, [SAME]) == [True, True, False, False]
        assert await judge.distinct(QUESTION, readings) == [0, 2, 3]
        assert await judge.relevant(QUESTION, readings) == [True] * 4
    assert model.calls == []


def test_its_name_and_version_are_those_of_both() -> None:
    judge: Judge = judge_of(scripts.judge_model())
    assert judge.name == "lexical+fake"
    assert judge.version.endswith(f"+{LexicalJudge().version}+{combined(JUDGE_VERSIONS)}")
    assert judge.needs_answers
