"""Words: what a text is made of."""

import pytest

from holdfast.text import fingerprint, fold, normalise, passages, speaker, stem, terms, tokens


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("The cats are running", ["cat", "run"]),
        ("the and of", []),
        ("!?", []),
        ("don't Ann's", ["ann"]),
        ("user_id", ["user_id", "user", "id"]),
        ("parseHTTPResponse", ["parsehttpresponse", "pars", "http", "respons"]),
        ("3.11.2", ["3.11.2", "3", "11", "2"]),
        ("src/app/main.py", ["src/app/main.py", "src", "app", "main", "py"]),
        ("ann@example.com", ["ann@example.com", "ann", "exampl", "com"]),
        ("C++ and C#", ["c++", "c#"]),
        ("2026-05-03", ["2026-05-03", "2026", "05", "03"]),
        ("café CAFÉ cafe", ["cafe", "cafe", "cafe"]),
        ("Straße", ["strass"]),
        ("１２３", ["123"]),
        ("东京塔", ["东京", "京塔"]),
        ("东", ["东"]),
        ("서울에", ["서울", "울에"]),
        ("दिल्ली", ["दिल्ली"]),
        ("tea, tea; TEA", ["tea", "tea", "tea"]),
    ],
)
def test_terms(said: str, found: list[str]) -> None:
    assert list(terms(said)) == found


def test_scripts_may_meet_in_one_word() -> None:
    assert {"v2", "東京"} <= set(terms("v2東京"))


def test_long_words_and_names_keep_their_parts_findable() -> None:
    for part in ("user", "name"):
        assert stem(part) in terms("getUserName")
        assert stem(part) in terms("GET_USER_NAME")


def test_a_stem_is_for_english_words_only() -> None:
    assert [stem(word) for word in ("running", "gas", "3.11", "бежали")] == (
        ["run", "gas", "3.11", "бежали"]
    )


def test_folding_takes_accents_and_widths_but_not_case() -> None:
    assert fold("Ｅ\u0301cole ﬁn — Ann’s") == "Ecole fin — Ann"


def test_normalising_folds_blanks_and_composes() -> None:
    assert normalise(" cafe\u0301\u00a0 au\tlait\n") == "café au lait"
    assert normalise("Tea") != normalise("tea")


def test_a_fingerprint_is_the_same_in_every_process_for_ever() -> None:
    assert fingerprint("likes tea").hex() == "17797b615e26b4e00d44624fc6332e3a"


@pytest.mark.parametrize(
    ("said", "least"), [("", 0), ("tea", 1), ("internationalisation", 5), ("12345", 3), ("茶茶", 2)]
)
def test_tokens_are_estimated_rather_too_many(said: str, least: int) -> None:
    assert tokens(said) == least
    assert tokens(said) <= max(len(said.encode()), 0)


def test_a_short_text_is_its_own_passage() -> None:
    assert passages("tea") == ["tea"]


def test_a_long_text_is_cut_between_words() -> None:
    parts = passages(" ".join(["abcdefgh"] * 400))
    assert len(parts) > 3
    assert all(set(part.split()) <= {"abcdefgh", part.split()[0]} for part in parts)


def test_a_text_without_blanks_is_cut_all_the_same() -> None:
    parts = passages("茶" * 2500)
    assert all(len(part) <= 1000 for part in parts)
    assert sum(map(len, parts)) >= 2500


@pytest.mark.parametrize(
    ("content", "who"),
    [
        ("Nora: the ferry leaves at noon", "nora"),
        ("user: the ferry leaves at noon", "user"),
        ("Anna van Dyk: see you there", "anna van dyk"),
        ("Release moved by a week: it is on 22 September", None),
        ("Packing for Portugal: a rain jacket", None),
        ("Product decided: no connector of our own", None),
    ],
)
def test_a_heading_is_nobody_who_speaks(content: str, who: str | None) -> None:
    assert speaker(None, content) == who
