"""AsciiDoc is read as people see it."""

from __future__ import annotations

from time import process_time

import pytest

from pgclarify.ingest.asciidoc_text import Inline
from pgclarify.ingest.parsing import parse


def read(source: str) -> str:
    (parsed,) = parse(source.encode(), ".adoc", "page.adoc")
    return parsed.content


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("= Fees\n\n== Hail\n\nTen dollars.\n", "# Fees\n\n## Hail\n\nTen dollars."),
        ("See xref:guide.adoc[the guide] and <<fees,fees>>.", "See the guide and fees."),
        ("See xref:manual:fees/hail-damage.adoc[] and <<hail-damage>>.", "See hail damage and hail damage."),
        ("A link:https://example.com[link^,role=big] and {url-base}/a[another].", "A link and another."),
        ("Write to link:https://example.com[].", "Write to https://example.com."),
        (":fee: ten dollars\n\nIt is {fee}, not {unknown}.", "It is ten dollars, not {unknown}."),
        ("image::a.png[A picture]\n\nText icon:heart[] here.\n\ninclude::/etc/passwd[]\n", "Text here."),
        ("ifdef::env-github[]\nText.\nendif::[]\n\n// a comment\n\n<<<\n\nMore.", "Text.\n\nMore."),
        ("////\nhidden\n////\n\nText.\n\n++++\n<b>As is</b>\n++++\n", "Text.\n\nAs is"),
        ("[TIP]\n====\nAsk first.\n====\n", "Ask first."),
        (".Careful\n[NOTE]\n====\nAsk first.\n====\n", "Careful\n\nAsk first."),
        ("* One +\nmore\n+\nAnd a paragraph.\n* Two\n", "* One  \n  more\n\n  And a paragraph.\n* Two"),
        ("Fee:: Ten dollars.\nTerm::\n  A year.\n", "Fee\n:   Ten dollars.\n\nTerm\n:   A year."),
        ('Call `std::find` of the [.name]#library#, "`quickly`".', 'Call `std::find` of the library, "quickly".'),
        ("Health &amp; safety, a &lt; b", "Health & safety, a < b"),
        ("Press kbd:[Ctrl] in menu:File[Save].", "Press Ctrl in File > Save."),
        ("[source,sh]\n----\n# no heading {fee}\nrun::it[]\n----\n", "```\n# no heading {fee}\nrun::it[]\n```"),
        ("[source,sh]\n--\nrun it\n--\n", "```\nrun it\n```"),
        ("....\nrun it\n----\nagain {fee}\n....\n", "```\nrun it\n----\nagain {fee}\n```"),
        ("```sh\nrun it\n```\n\nText.\n", "```\nrun it\n```\n\nText."),
        ("--\nText in a block.\n--\n", "Text in a block."),
        ("= Fees =\n\n== Hail ==\n\nTen.\n\n=== C# ===\n\nx", "# Fees\n\n## Hail\n\nTen.\n\n### C#\n\nx"),
        ("Fees\n====\n\nHail\n----\n\nTen.", "# Fees\n\n## Hail\n\nTen."),
        ("A indexterm:[a,b]b (((x, y))) ((shown)) indexterm2:[z] c.", "A b shown z c."),
        ("(((a,\nb)))Text.", "Text."),
        ("image::my picture 1.png[A picture]\n\nText image:a b.png[x] here.", "Text here."),
        ("See xref:guide.adoc[the\nguide] and <<fees,the\nfees>>.", "See the guide and the fees."),
        ("14footnote:[Children\nfree.] euros", "14¹ euros\n\n[1] Children free."),
        ("10^3^ kg H~2~O `a^b^`", "10^3 kg H₂O `a^b^`"),
        ("[qanda]\nHow much?:: Ten.", "How much?\n:   Ten."),
        ("[[here]]Text +as+ ++it++ is, 1 + 1 + 1.", "Text as it is, 1 + 1 + 1."),
        ("[cols=2*]\n|===\n|Vehicle |Day\n\n|E-bike\n2+^a|42\n|===\n", "Vehicle: E-bike; Day: 42"),
        ("|===\n|Use |Query\n\n|Find\na|[source,sh]\n----\nrun it\n----\n|===\n", "Use: Find; Query: run it"),
        ("|===\n|Boat\n|Day\n\n|Skiff\n|3\n|===\n", "Boat: Day\nBoat: Skiff\nBoat: 3"),
        ('[cols="1,1",options=header]\n|===\n|Boat\n|Day\n\n|Skiff\n|3\n|===\n', "Boat: Skiff; Day: 3"),
        ("[%header,format=csv]\n|===\nBoat,Day\nSkiff,3\n|===\n", "Boat: Skiff; Day: 3"),
        ("|===\n|Boat|Day\n\n|Skiff|3\n|===\n", "Boat: Skiff; Day: 3"),
        ("|===\nBoat | Day\n\n|Skiff | 3\n|===\n", "Boat: Skiff; Day: 3"),
        ('[%header,format=csv]\n|===\nBoat,Day\n"Old\nskiff",3\n|===\n', "Boat: Old skiff; Day: 3"),
        ("[%header,format=csv,separator=\\t]\n|===\nBoat\tDay\nSkiff\t3\n|===\n", "Boat: Skiff; Day: 3"),
        ("Asked.footnote:[Of `it` and *all* of https://a.org[us].]", "Asked.¹\n\n[1] Of `it` and all of us."),
        ("One.footnoteref:[a,A note.] Two.footnoteref:[a]", "One.¹ Two.¹\n\n[1] A note."),
        ("A. Smith is here.", "A. Smith is here."),
        (
            "[%header]\n|===\n|Boat |Day |Week\n|Skiff 2*|3\n.2+|Raft 2+|4\n|5 |6\n|===\n",
            "Boat: Skiff; Day: 3; Week: 3\nBoat: Raft; Day: 4; Week: 4\nBoat: Raft; Day: 5; Week: 6",
        ),
        (
            ". One\n.. Half\n\n. Two\n+\n----\nx\n----\n. Three",
            "1. One\n   a. Half\n2. Two\n\n   ```\n   x\n   ```\n3. Three",
        ),
        ("[loweralpha,start=3]\n. Three", "c. Three"),
        ("----\nrun # <1>\n----\n<1> It runs.\n<2> It ends.", "```\nrun # <1>\n```\n\n1. It runs.\n2. It ends."),
        ("[NOTE]\n====\n* One\n* Two\n====", "* One\n* Two"),
        ("****\nAt the side.\n****\n\n'''\n\nMore.", "At the side.\n\nMore."),
        ("[quote, Ann]\n____\nTo be.\n____", "To be.\n\nAnn"),
        (
            "See <<fees>> and <<_rent_a_boat>>.\n\n[[fees]]\n== What it costs\n\n== Rent a boat",
            "See What it costs and Rent a boat.\n\n## What it costs\n\n## Rent a boat",
        ),
        ("ifdef::shop[Ten.]\nifndef::shop[]\nText.\nendif::[]", "Ten. Text."),
        (":fee: ten \\\n  dollars\n\n{fee} and *{fee}*", "ten dollars and ten dollars"),
        ("Ten\\*, a_b_c, 2 * 3 * 4, pass:[*x*] and [app]_Word_.", "Ten*, a_b_c, 2 * 3 * 4, *x* and Word."),
        ("A image:https://x.org/a.svg[Build,link=https://x.org] B", "A B"),
        ("----\ninclude::a b.rb[]\nrun\nifdef::x[]\nit\nendif::[]\n----", "```\nrun\nit\n```"),
        ("14footnote:f[Free.] and 3footnote:f[]", "14¹ and 3¹\n\n[1] Free."),
    ],
)
def test_is_read_as_people_see_it(source: str, expected: str) -> None:
    assert read(source) == expected


def test_attributes_at_the_beginning_are_metadata() -> None:
    source = ":toc:\n= Fees\n:author: Ann\n:next-page: {author}\n\nText.\n\n:later: no\n"
    (parsed,) = parse(source.encode(), ".adoc", "page.adoc")
    assert (parsed.title, parsed.metadata) == ("Fees", {"author": "Ann", "next-page": "Ann"})
    assert parsed.content == "# Fees\n\nText."


def test_authors_and_version_below_the_title_are_metadata() -> None:
    source = "////\nhidden\n////\n= Fees\nAnn Lee <ann@x.org>; Bo Ek\nv1.2, 2026-03-01: mended\n:toc:\n\nText."
    (parsed,) = parse(source.encode(), ".adoc", "page.adoc")
    assert parsed.metadata == {"author": "Ann Lee, Bo Ek", "revnumber": "1.2", "revdate": "2026-03-01"}
    assert parsed.content == "# Fees\n\nText."


@pytest.mark.parametrize("mark", ["[#a", "<<a,", "(("])
def test_marks_without_an_end_take_time_that_grows_with_the_text(mark: str) -> None:
    def seconds(times: int) -> float:
        source = f"= Fees\nAnn Lee\n{mark * times}"
        began = process_time()
        Inline({}).html(source)
        read(source)
        return process_time() - began

    # Four times the text takes sixteen times as long if each mark is searched for an end.
    assert seconds(12_000) < 10 * max(seconds(3_000), 0.05)


def test_values_of_values_do_not_double_the_text_with_each_line() -> None:
    lines = [":a0: ten dollars", *(f":a{number}: {{a{number - 1}}}{{a{number - 1}}}" for number in range(1, 25))]
    assert len(read("\n".join([*lines, "", "{a24}"]))) < 5_000
