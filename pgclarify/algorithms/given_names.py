"""First names that are common in English texts, in small letters; what is no first name as often as not is left out."""

from __future__ import annotations

from typing import Final

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
