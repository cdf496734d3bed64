"""Words and pieces, as the tokenizer has them that the model was trained with."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import BertWordPieceTokenizer

from holdfast.embed.files import DATA
from holdfast.embed.wordpiece import WordPiece, words

PIECES = WordPiece.read(DATA / "vocab.txt")


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("", []),
        ("Hello, World!", [7592, 1010, 2088, 999]),
        ("Müller's café — naïve", [12304, 1005, 1055, 7668, 1517, 15743]),
        ("e\u0301clair", [14925, 19771, 2099]),
        ("C++ & C#", [1039, 1009, 1009, 1004, 1039, 1001]),
        ("Grüße aus Zürich", [24665, 2226, 17499, 17151, 10204]),
        ("会议改到 friday", [1763, 100, 100, 100, 5958]),
        ("こんにちは", [1655, 30217, 30194, 30188, 30198]),
        ("한국어", [1469, 30006, 30021, 29991, 30014, 30020, 29999, 30008]),
        ("tab\tnew\nline\u00a0nbsp", [21628, 2047, 2240, 1050, 5910, 2361]),
        ("zero\u200bwidth \x07bell", [5717, 9148, 11927, 2232, 4330]),
        ("🙂 ok", [100, 7929]),
        ("x" * 101, [100]),
        ("supercalifragilistic", [3565, 9289, 10128, 29181, 24411, 4588]),
        ("İstanbul ΣΑΣ", [9960, 1173, 14608, 29733]),
        ("$5.00 (50%)", [1002, 1019, 1012, 4002, 1006, 2753, 1003, 1007]),
    ],
)
def test_a_text_has_the_numbers_the_model_learned(text: str, numbers: list[int]) -> None:
    assert PIECES.numbers(text) == numbers


def test_a_mark_inside_a_text_is_only_a_word() -> None:
    assert words("end [SEP]") == ["end", "[", "sep", "]"]
    assert 102 not in PIECES.numbers("end [SEP]")


def test_a_vocabulary_has_a_number_for_each_line() -> None:
    assert len(PIECES) == 30522
    assert PIECES.unknown == 100


@given(st.text())
def test_every_text_has_numbers_and_always_the_same(text: str) -> None:
    numbers = PIECES.numbers(text)
    assert all(0 <= number < len(PIECES) for number in numbers)
    assert PIECES.numbers(text) == numbers


@given(st.text(), st.text())
def test_a_blank_keeps_texts_apart(left: str, right: str) -> None:
    assert PIECES.numbers(f"{left} {right}") == PIECES.numbers(left) + PIECES.numbers(right)


def test_the_pieces_are_those_of_the_tokenizers_library() -> None:
    theirs = BertWordPieceTokenizer(str(DATA / "vocab.txt"), lowercase=True)
    texts = [
        "Use PostgreSQL, not MongoDB, for the main store!",
        "Café naïve ÅNGSTRÖM straße İstanbul",
        "user_id=3.11.2 parseHTTPResponse() src/app/main.py\tand\nmore",
        "東京で寿司を食べた。 한국어 문장 ภาษาไทย हिन्दी",
        "unaffable antidisestablishmentarianism " + "x" * 120,
        "emoji 🎉 and ½ ² ﬁ — “quotes” …",
    ]
    for text in texts:
        assert list(PIECES.numbers(text)) == theirs.encode(text, add_special_tokens=False).ids
