"""Names in English text: which words are part of one, initials, titles and common first names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pgclarify.language.words import ASKING, COMMON, WORD, folded_words, without_possessive

_DOTTED_INITIALS: Final = re.compile(r"\b([^\W\d_])\.(?:\s(?=[^\W\d_]\.))?(?=[^\W\d_]\b|\W|$)")
# Words that do not change what a question asks, in any spelling.
_NOT_CONTENT: Final = COMMON | {*ASKING, "do", "does", "did", "i"}
TITLES: Final = frozenset({"dr", "mr", "mrs", "ms", "sir"})


def names(text: str) -> frozenset[str]:
    """List the words of names, and the numbers, in a text, folded.

    A word is part of a name if it is capitalized and not the first one, or if it has a digit.
    """
    return frozenset(part for _, word, is_name in content_words(text) if is_name for part in folded_words(word))


def content_words(text: str) -> Iterator[tuple[int, str, bool]]:
    """Yield the words that are neither asking nor common: place, bare form, and whether they are part of a name."""
    for place, match in enumerate(WORD.finditer(text)):
        word = match[0]
        if word.lower() not in _NOT_CONTENT:
            # The first word is always capitalized.
            is_name = any(map(str.isdigit, word)) or (place > 0 and word[0].isupper())
            yield place, without_possessive(word.lower()), is_name


def join_initials(text: str) -> str:
    """Write initials without dots: "APJ Kalam" for "A. P. J. Kalam"."""
    return _DOTTED_INITIALS.sub(r"\1", text)


# Common first names in English texts, in small letters. Names that are often something else are left out.
GIVEN_NAMES: Final = frozenset(
    str.split(
        "aaron abigail abraham ada adam adrian agnes aisha alan albert alejandro alex alexander alexandra alfred ali"
        " alice alicia alison allan allen amanda amelia amy ana andrea andreas andrew andy angela anita ann anna anne"
        " annie anthony antonio arnold arthur audrey barbara barry beatrice ben benjamin bernard beth betty beverly"
        " bob bonnie bradley brandon brenda brian bridget bruce bryan caleb calvin carl carla carlos carmen carol"
        " caroline carolyn catherine cathy cecil charles charlie charlotte cheryl chris christina christine christoph"
        " christopher claire clara clarence claude colin connor craig cynthia dan daniel danielle danny david dean"
        " deborah debra dennis derek diana diane dolores donald donna dora doris dorothy douglas dylan eddie edgar"
        " edith edmund eduardo edward edwin eileen elaine eleanor elena elijah elizabeth ella ellen elsa elsie emil"
        " emily emma emmanuel eric erica erik erin ernest esther ethan ethel eugene eva evelyn fatima felix fernando"
        " florence frances francis francisco frank franz fred frederick friedrich gary geoffrey george gerald"
        " geraldine gerard gilbert giovanni gladys glenn gloria gordon graham greg gregory gustav hannah hans harold"
        " harriet harry harvey hazel heather heinrich helen helena helga henri henry herbert herman hilary howard"
        " hugh hugo ian ida ingrid irene isaac isabel isabella ivan jacob jacqueline jacques james jamie jan jane"
        " janet janice jason javier jay jean jeff jeffrey jennifer jenny jeremy jerome jerry jessica jesse jim jimmy"
        " joan joanna joe joel johann johannes john johnny jon jonathan jorge jose joseph josephine josh joshua joyce"
        " juan juanita judith judy julia julian julie karen karl kate katherine kathleen kathryn katie keith kelly"
        " ken kenneth kevin kim kimberly klaus kris kristen kristin kurt larry laura lauren laurence lawrence leah"
        " leo leon leonard leonardo leslie lewis liam lillian linda lisa liz lois lorenzo lori lorraine louis louise"
        " lucas lucia lucy ludwig luigi luis luke lydia lynn marcel marcus margaret maria marianne marie marilyn"
        " mario marjorie marlene marta martha martin marvin mary matthew maureen maurice max megan melanie melissa"
        " michael michel michelle miguel mike mildred miriam mohamed mohammed monica muhammad nancy naomi natalie"
        " natasha nathan nathaniel neil nicholas nicola nicole nigel nikolai nina nora norma norman oliver olivia"
        " oscar otto owen pablo pamela patricia patrick paul paula pauline pedro peggy peter philip phillip phyllis"
        " pierre priscilla rachel ralph ramon raymond rebecca regina rene ricardo richard rita robert roberta roberto"
        " rodney roger roland ronald rosemary roy rupert russell ruth ryan sally sam samantha samuel sandra sara"
        " sarah scott sean sergei seth sharon sheila shirley sidney simon sofia sophia sophie stanley stefan stella"
        " stephanie stephen steve steven stewart stuart susan suzanne sylvia tamara tanya teresa terry thelma"
        " theodore theresa thomas tim timothy tina todd tom tommy tony tracy ulrich ursula valerie vanessa vera"
        " vernon veronica victor victoria vincent viola virginia vivian vladimir walter wanda warren wayne wendy"
        " werner wilhelm william wolfgang yolanda yvonne zachary"
    )
)
