"""PDF files as text, page by page: one column after the other, with headings, tables and fields of forms."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from pgclarify.ingest.columns import Texts, block_by_block, blocks_of_page
from pgclarify.ingest.extraction import Extracted, extract
from pgclarify.ingest.markup import read_html
from pgclarify.ingest.parsed import Parsed, Section, Unreadable
from pgclarify.ingest.raised_marks import marked_words, with_marks
from pgclarify.ingest.scans import READ_BY_OCR, Ocr
from pgclarify.ingest.text import too_long
from pgclarify.language.foreign_text import storable

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage

# Chinese and Japanese have no blanks between words, so each character counts.
_WORD = re.compile("[\u3040-\u30ff\u3400-\u9fff]|[^\\W\u3040-\u30ff\u3400-\u9fff]+")
# A word that a hyphen cuts at the end of a line: PDFium's mark of it, and a hyphen that is only seen there.
_CUT_WORD = re.compile("(\\w+(?:-\\w+)*)[\x02\u00ad]\\s*(\\w+(?:-\\w+)*)")
_LINE_HYPHEN = re.compile("[\x02\u00ad]\\s*")
_HYPHENED = re.compile(r"\w+(?:-\w+)*(?:- \w+(?:-\w+)*)?")
_POINT = "(?:north|south|east|west)"
# Of English, words that are always written with a hyphen.
_COMPOUND = re.compile(
    rf"{_POINT}-{_POINT}(?:ern)?|(?:twen|thir|for|fif|six|seven|eigh|nine)ty-(?:one|two|three|four|five|six|seven|eight|nine)"
    r"|(?:so|self|now)-called|(?:well|little|best)-known|(?:part|full|real)-time|(?:long|short|medium)-term"
    r"|(?!de-|a-)\w+-based|\w+-related",
    re.IGNORECASE,
)
# An unreadable letter may become the number that it has in its font.
_NO_LETTER = re.compile("[\0\x01\x03-\x08\x0b\x0c\x0e-\x1f]")
# Letters after these are drawn so near that the layout may see a blank there.
_APART = re.compile(r"[FLPTVWY][a-zà-ÿ]{2,}")
_HEADING_MARK = re.compile(r"^(#{1,6}) ", re.MULTILINE)
# A line of its own above other text: some words, without numbers, in capitals or with one at the beginning.
_PAGE_TITLE = re.compile(r"(?=[^\W\d_])(?![a-z])[^\n\d|.,:;!?#]{2,60}\n\n(?=\S)(?!#)")
_OPEN_END = re.compile(r"(?:[^\W\d_]|,)\Z")
_LETTER = re.compile(r"[^\W\d_]")
_SENTENCE_START = re.compile(r"(\w+)[.!?] (?=(\w+))")
_INDEX = re.compile(r"\[\d+\]")
# A block on so many pages, and on this part of them, is a header or a footer.
_REPEATED_PAGES = 3
_REPEATED_PART = 0.5
_MOST_REPEATED_CHARS = 200
# If the layout loses a larger part of the words of a page, or of its numbers, its plain text is kept: numbers of a
# table would stand in the wrong columns.
_MOST_LOST = 0.1
_MOST_LOST_NUMBERS = 0.02
# This is at the end of a file that is not cut off.
_END_MARK = b"%%EOF"
_END_BYTES = 2048
# PDFium's numbers: forms that only a program of Adobe shows, and a picture.
_XFA = (2, 3)
# Titles that programs write if nobody chose one.
_NO_TITLES = ("untitled", "(anonymous)", "(unspecified)")
_PICTURE = 3
_FORM = 5


@dataclass(frozen=True, slots=True)
class _Plain:
    """A page without its layout.

    Attributes:
        text: In the order of its drawing.
        pictures: Their number.
        unknown_letters: The number of letters of which the file does not say what they are.
        is_blank: Whether it shows nothing.
        blocks: Its columns and tables that are stored row by row.
        marked: Words that end with a raised mark, as they are seen.
    """

    text: str
    pictures: int
    unknown_letters: int
    is_blank: bool
    blocks: Sequence[Texts] = ()
    marked: dict[str, str] = field(default_factory=dict)


def read_pdf(data: bytes, ocr: Ocr | None = None) -> Parsed:
    """Read the text of a PDF file.

    Pages do not become headings, because a page number does not say what a passage is about.

    Args:
        data: The file.
        ocr: How scanned pages are read; None to leave them out.

    Raises:
        ImportError: If the extra "files" is not installed.
        Unreadable: If it is encrypted, has no text, or too much text.
    """
    # An optional extra, and slow to import.
    from pypdfium2 import PdfDocument, PdfiumError

    try:
        document = PdfDocument(data)
    except PdfiumError as error:
        if "password" in str(error).lower():
            raise Unreadable("It is encrypted.", "Load a copy without a password.") from error
        raise
    try:
        if document.get_formtype() in _XFA:
            raise Unreadable(
                "It is an XFA form, whose text only Adobe's programs show.",
                "Print it to a new PDF file, and load that.",
            )
        plain = _plain_pages(document)
        title = storable(document.get_metadata_dict().get("Title", "")).strip("\ufffd")
        unread = Counter({"attachment": document.count_attachments()})
        unread["unreadable letter"] = sum(page.unknown_letters for page in plain)
    finally:
        document.close()
    numbered = enumerate(plain, start=1)
    without_text = [number for number, page in numbered if not page.text and not page.is_blank]
    try:
        extracted = extract(data, ".pdf", ocr=ocr if without_text else None, scanned_pages=without_text if ocr else ())
    except RuntimeError:
        # PDFium reads more of the broken files.
        extracted = Extracted(None, "")
    pages, repeated = _without_repeated(_pages(plain, extracted), [page.text for page in plain])
    pages = list(_with_titles(pages))
    scanned = {number for number, page in enumerate(pages) if page and not plain[number].text}
    empty = [one for one, page in zip(plain, pages, strict=True) if not page]
    unread["page without text"] = sum(not one.is_blank for one in empty)
    unread["picture"] = sum(
        plain[number].pictures for number, page in enumerate(pages) if page and number not in scanned
    )
    unread["cut-off end"] = int(_END_MARK not in data[-_END_BYTES:])
    fields = ""
    for name, value in extracted.fields:
        field = _INDEX.sub("", name)
        line = f"{field}: {value}\n"
        fields += line
    sections: list[Section] = []
    for number, page in enumerate(pages):
        by_ocr = f", {READ_BY_OCR}" if number in scanned else ""
        # A sentence may go on from the page before.
        before = sections[-1].text if sections else ""
        goes_on = page[:1].islower() and _OPEN_END.search(before)
        separator = " " if goes_on else "\n\n"
        sections.append(Section(page, "page", f"page {number + 1}{by_ocr}", separator))
    parsed = Parsed.of(
        None if title.lower() in _NO_TITLES else title,
        [*sections, Section(repeated), Section(storable(fields))],
        unread,
        {"ocr": True} if scanned else {},
    )
    if not parsed.content:
        raise Unreadable(
            "No page has text: the pages may be scanned pictures.",
            "Read them by text recognition: --ocr eng, or another language.",
        )
    return parsed


def _plain_pages(document: PdfDocument) -> list[_Plain]:
    pages: list[_Plain] = []
    chars = 0
    for page in document:
        textpage = page.get_textpage()
        bounded = textpage.get_text_bounded()
        # This has all ends of lines; but also what is beside the page, and the same mark for an unknown letter.
        ranged = textpage.get_text_range()
        unknown = ranged.count("\ufffe") - bounded.count("\x02")
        ranged = ranged.replace("\ufffe", "\x02")
        is_same = "".join(ranged.split()) == "".join(bounded.split())
        text = (ranged if is_same else bounded).replace("\r\n", "\n")
        text, numbers = _NO_LETTER.subn("", text.strip())
        kinds = Counter(_kinds(page))
        blocks = blocks_of_page(textpage)
        marked = marked_words(textpage, ranged)
        unknown = max(unknown, 0) + numbers
        pages.append(_Plain(text, kinds[_PICTURE], unknown, not kinds, blocks, marked))
        chars += len(text)
        # Do not spend time on further pages.
        if reason := too_long(chars):
            raise Unreadable(reason)
    return pages


def _kinds(page: PdfPage) -> Iterator[int]:
    """Yield the kinds of the objects on a page, and of those in its forms. There are thousands of drawings."""
    from pypdfium2 import raw

    for number in range(raw.FPDFPage_CountObjects(page)):
        one = raw.FPDFPage_GetObject(page, number)
        kind = raw.FPDFPageObj_GetType(one)
        yield kind
        for inner in range(raw.FPDFFormObj_CountObjects(one) if kind == _FORM else 0):
            yield raw.FPDFPageObj_GetType(raw.FPDFFormObj_GetObject(one, inner))


def _spellings(pages: Sequence[str], layout: Sequence[str]) -> dict[str, str]:
    """Return how words are spelled that a line cuts: as they may be joined, with their spelling.

    A hyphen belongs to the word if the word has another one, or a digit beside it; if only one side is in capitals, as
    in FAA-approved and Jean-Pierre; if the two are always written so, as in north-south; or if elsewhere the word has
    a hyphen, and is never without it.
    """
    cuts = {cut for page in pages for cut in _CUT_WORD.findall(page)}
    if not cuts:
        return {}
    whole = Counter(word for page in [*pages, *layout] for word in _HYPHENED.findall(page))
    found: dict[str, str] = {}
    for left, right in cuts:
        joined, hyphened = left + right, f"{left}-{right}"
        keeps = (
            "-" in joined
            or left[-1].isdigit()
            or left.isupper() != right[0].isupper()
            or _COMPOUND.fullmatch(hyphened) is not None
            or (whole[hyphened] > 0 and not whole[joined])
        )
        found[joined] = found[f"{left}- {right}"] = hyphened if keeps else joined
    return found


def _without_cuts(text: str, spellings: Mapping[str, str]) -> str:
    def whole(cut: re.Match[str]) -> str:
        word = cut[1] + cut[2]
        return spellings.get(word, word)

    return _LINE_HYPHEN.sub("", _CUT_WORD.sub(whole, text))


def _pages(plain: Sequence[_Plain], extracted: Extracted) -> list[str]:
    """Return the text of each page, in the order of its layout, with all words of the plain text."""
    # Slow to import.
    from pgclarify.ingest.writer import Writer

    html = {page.number: page.html for page in extracted.pages}
    writer = Writer(is_drawn=True)
    pages: list[str] = []
    for number in range(1, len(plain) + 1):
        page = read_html(html.get(number, ""), writer)
        text = with_marks(page.content, plain[number - 1].marked)
        text = block_by_block(text, plain[number - 1].blocks, writes_tables=True)
        if "<table" in html.get(number, ""):
            text = _with_tables_between(text, plain[number - 1].text)
        pages.append(storable(_NO_LETTER.sub("", _LINE_HYPHEN.sub("", text))))
    spellings = _spellings([page.text for page in plain], pages)
    if spellings:

        def spelled(found: re.Match[str]) -> str:
            return spellings.get(found[0], found[0])

        pages = [_HYPHENED.sub(spelled, page) for page in pages]
    texts: list[str] = []
    for one in plain:
        text = block_by_block(with_marks(one.text, one.marked), one.blocks, writes_tables=False)
        texts.append(storable(_without_cuts(text, spellings)))
    repeated = _repeated([text.splitlines() for text in texts])
    return [
        _with_all_words(page, text, number, repeated)
        for number, (page, text) in enumerate(zip(pages, texts, strict=True), start=1)
    ]


def _with_all_words(text: str, plain: str, number: int, repeated: set[str]) -> str:
    """Add the lines of the plain text that the layout lost; return the plain text if it lost much."""
    in_plain = _words(plain)
    for word in in_plain - _words(text):
        # A space between two letters may be narrower than the letters.
        if _APART.fullmatch(word):
            text = text.replace(f"{word[0]} {word[1:]}", word)
    left = _words(text)
    if not in_plain - left:
        return text
    lost: list[str] = []
    words: Counter[str] = Counter()
    lost_words: Counter[str] = Counter()
    for line in plain.splitlines():
        in_line = _words(line)
        missing = in_line - left
        left -= in_line
        if _shape(line, number) in repeated:
            continue
        words += in_line
        lost_words += missing
        if missing.total() * 2 > in_line.total():
            lost.append(line.strip())
    loses_words = lost_words.total() > words.total() * _MOST_LOST
    loses_numbers = _numbers(lost_words) > _numbers(words) * _MOST_LOST_NUMBERS + 1
    # Plain text may run words together.
    if (loses_words or loses_numbers) and lost_words.total() > (_words(text) - in_plain).total():
        return plain
    return "\n\n".join(filter(None, [text, "\n".join(lost)]))


def _with_tables_between(text: str, plain: str) -> str:
    """Put a table between the sentences around it, of which the layout may make one paragraph."""
    follows = set(pairwise(_WORD.findall(plain)))
    told: list[str] = []
    waiting = ""
    for block in text.split("\n\n"):
        partings = (one.start(2) for one in _SENTENCE_START.finditer(block) if one.groups() not in follows)
        end = next(partings, len(block))
        told.append(block[:end].rstrip())
        if waiting:
            told.append(waiting)
        waiting = block[end:]
    if waiting:
        told.append(waiting)
    return "\n\n".join(told)


def _words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text))


def _numbers(words: Counter[str]) -> int:
    found = filter(str.isdecimal, words)
    return sum(words[word] for word in found)


def _without_repeated(pages: Sequence[str], plain: Sequence[str]) -> tuple[list[str], str]:
    """Take headers and footers from pages, where they part sentences; return the pages, and these once."""
    blocks = [page.split("\n\n") for page in pages]
    # Of those that stand between columns, the layout may have the first one only.
    lines = [page.splitlines() for page in plain]
    ends = [[*page[:2], *page[-2:]] for page in lines]
    stored = _repeated(ends)
    shapes: Counter[str] = Counter()
    for number, page in enumerate(blocks, start=1):
        shapes.update(_shape(block, number) for block in page)
    single = {shape for shape in stored if shapes[shape] == 1}
    margins = [[*page[:2], *page[-2:]] for page in blocks]
    repeated = _repeated(margins)
    taken: dict[str, str] = {}
    kept: list[str] = []
    for number, page in enumerate(blocks, start=1):
        left: list[str] = []
        for position, block in enumerate(page):
            shape = _shape(block, number)
            is_at_end = position < 2 or position >= len(page) - 2
            is_margin = shape in single or (is_at_end and shape in repeated)
            # A heading stays above the first page that has it.
            if not is_margin or (shape not in taken and block.startswith("#")):
                left.append(block)
            if is_margin:
                taken.setdefault(shape, "" if block.startswith("#") else block)
        kept.append("\n\n".join(left))
    # Numbers of pages are no text.
    return kept, "\n\n".join(filter(_LETTER.search, taken.values()))


def _with_titles(pages: Sequence[str]) -> Iterator[str]:
    """Yield pages. A title above a page is a heading, if it would else stand below a heading of a page before."""
    level = ""
    for page in pages:
        found = _PAGE_TITLE.match(page)
        yield f"{level} {page}" if level and found else page
        *_, level = level, *_HEADING_MARK.findall(page)


def _repeated(pages: Sequence[Sequence[str]]) -> set[str]:
    """Return the shapes of blocks that are on many pages."""
    shapes = [
        {_shape(block, number) for block in page if len(block) <= _MOST_REPEATED_CHARS}
        for number, page in enumerate(pages, start=1)
    ]
    found = Counter(shape for page in shapes for shape in page if shape)
    least = max(_REPEATED_PAGES, len(pages) * _REPEATED_PART)
    return {shape for shape, number in found.items() if number >= least}


def _shape(block: str, number: int) -> str:
    """Return a text with single spaces, and with a sign for the number of its page."""
    text = " ".join(block.split())
    return re.sub(rf"\b{number}\b", "#", text)
