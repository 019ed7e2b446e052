"""Tables as spreadsheets save them: encodings, separators, local words and numbers; what cannot be read is named."""

import pytest

from labapp.studies.importing.decoding import table_file
from labapp.studies.importing.defaults import guess_import
from labapp.studies.importing.outcome_tables import ArmColumns, TableMapping, TableRefused, table_header
from labapp.studies.importing.outcome_values import moment, seconds, yes_or_no
from labapp.studies.importing.tables import ImportMapping, ImportRefused, TableFile, read_files, summary

LONG = ImportMapping(TableMapping(outcomes=(ArmColumns("ok", duration_s="s"),), arm="policy", block=("seed",)))
TEXT = "policy,seed,ok,s\nmüller,1,1,2.5\nB,1,0,3\n"


def read(content: bytes | str, name: str = "t.csv"):
    file = table_file(name, content.encode() if isinstance(content, str) else content)
    return read_files([file], LONG)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16"])
def test_umlauts_survive_whatever_a_spreadsheet_saved(encoding):
    assert read(TEXT.encode(encoding))[0].arm == "müller"


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_separators_and_line_ends_are_recognised(mark, newline):
    rows = read(TEXT.replace(",", mark).replace("\n", newline))
    assert [(row.arm, row.is_success, row.duration_s, row.line) for row in rows] == [
        ("müller", True, 2.5, 2), ("B", False, 3.0, 3),
    ]  # fmt: skip


def test_excels_first_line_names_the_separator_and_lines_are_counted_as_in_the_file():
    rows = read("sep=;\r\npolicy;seed;ok;s\r\nA;1;1;2,5\r\n")
    assert (rows[0].duration_s, rows[0].line) == (2.5, 3)


@pytest.mark.parametrize(
    "value", ["TRUE", "WAHR", "1", "1.0", "1,0", "100%", "100 %", "Yes", "success", "pass", "ja", "vrai"]
)
def test_yes_in_many_words(value):
    assert yes_or_no(value) is True


@pytest.mark.parametrize("value", ["FALSE", "FALSCH", "0", "0.0", "0%", "No", "failed", "nein", "faux"])
def test_no_in_many_words(value):
    assert yes_or_no(value) is False


@pytest.mark.parametrize("value", ["", "unknown", "n/a", "?", "50 %", "0.5", "2", "nan", "-1", "1e999"])
def test_what_is_neither_is_never_guessed(value):
    assert yes_or_no(value) is None


@pytest.mark.parametrize(
    ("text", "comma", "found"),
    [("12,5", True, 12.5), ("12,5", False, 12.5), ("1,234", True, 1.234), ("1,234", False, None), ("3.2 s", False, 3.2),
     ("-1", False, None), ("inf", False, None), ("nan", False, None), ("1.234,5", True, None)],
)  # fmt: skip
def test_a_decimal_comma_is_read_where_it_can_be_nothing_else(text, comma, found):
    assert seconds(text, comma=comma) == found


def test_a_date_that_could_be_read_in_two_ways_is_not_read():
    assert moment("03/04/2026") is None
    assert moment("2026-11-30 14:05").hour == 14


def test_every_bad_value_is_listed_with_line_column_and_what_would_be_right():
    lines = ["policy,seed,ok,s", *[f"A,{n},1,2" for n in range(60)]]
    lines[36], lines[40], lines[50] = "A,36,unknown,2", "A,40,1,fast", "A,50,1"
    with pytest.raises(ImportRefused, match="3 values cannot be read; nothing was imported") as refused:
        read("\n".join(lines))
    found = [(p.problem.line, p.problem.column, p.problem.value) for p in refused.value.problems]
    assert sorted(found) == [(37, "ok", "unknown"), (41, "s", "fast"), (51, "(row)", "3 values")]
    words = " ".join(map(str, refused.value.problems))
    assert "leave out trials without an outcome" in words and "such as 12.5" in words and "is not 4 values" in words


def test_of_very_many_bad_values_the_first_hundred_are_listed_and_all_counted():
    text = "policy,seed,ok,s\n" + "A,1,perhaps,2\n" * 250
    with pytest.raises(ImportRefused, match=r"250 values cannot be read.*The first 100 are listed") as refused:
        read(text)
    assert len(refused.value.problems) == 100


def test_empty_lines_and_padded_rows_are_passed_over_and_lines_still_counted():
    rows = read("policy,seed,ok,s\n\nA,1,1,2\n,,,\n\nB,1,0,3,,\n")
    assert [(row.arm, row.line) for row in rows] == [("A", 3), ("B", 6)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "The file is empty"),
        (b"policy,seed,ok,s\n", "a header but no rows"),
        (b"PK\x03\x04\x14\x00", "workbook.*save its sheet as CSV"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "it is no text"),
        (b"policy,policy\n1,1\n", "names a column twice"),
        (b"policy,seed,ok\nA,1,1\n", "no column s; it has policy, seed, ok"),
        (b'policy,seed,ok,s\nA,1,1,"2\x00"\n', "cannot be read|no CSV"),
    ],
)
def test_a_file_that_is_no_table_is_refused_in_words(content, message):
    with pytest.raises((TableRefused, ImportRefused), match=message):
        read(content)


def test_a_column_without_a_name_gets_its_number():
    assert table_header("policy,,ok\n") == ["policy", "(column 2)", "ok"]


def test_rows_that_repeat_an_earlier_one_are_told_where_a_key_tells_trials_apart():
    rows = read("policy,seed,ok,s\nA,1,1,2\nB,1,0,2\nA,1,1,2\n")
    assert any("line 4 repeats line 2" in oddity for oddity in summary(rows).oddities)
    without_key = ImportMapping(TableMapping(outcomes=(ArmColumns("ok"),), arm="policy"))
    plain = read_files([TableFile("t.csv", "policy,ok\nA,1\nA,1\n")], without_key)
    assert summary(plain).oddities == ()


def test_a_semicolon_table_with_local_words_is_guessed_like_any_other():
    file = table_file("t.csv", b"policy;success;seed\nA;WAHR;1\nB;FALSCH;1\n")
    rows = read_files([file], guess_import([file]))
    assert [(row.arm, row.is_success, row.block) for row in rows] == [("A", True, "1"), ("B", False, "1")]


def test_reading_tells_how_far_it_is_over_all_files():
    text = "policy,seed,ok,s\n" + "A,1,1,2\n" * 2500
    heard = []
    read_files([TableFile("a.csv", text), TableFile("b.csv", text)], LONG, heard.append)
    assert heard == [1000, 2000, 3500, 4500]


def test_a_mapping_survives_json():
    mapping = ImportMapping(
        TableMapping(outcomes=(ArmColumns("ok", "a"),), block=("seed",), factors={"f": "c"}, arm_factor="m"),
        {"t.csv": {"category": "x"}},
        pairs_across_files=True,
    )
    assert ImportMapping.from_json(mapping.to_json()) == mapping
