"""Small words of other languages, left out of a question."""

import pytest

from holdfast import small_words


@pytest.mark.parametrize(
    ("query", "left"),
    [
        ("Was ist das WLAN-Passwort?", "WLAN-Passwort?"),
        ("\u00bfD\u00f3nde est\u00e1 la llave del garaje?", "\u00bf llave garaje?"),
        ("Combien de loyer paie Claire ?", "loyer paie Claire ?"),
        ("Qual \u00e8 il cognome di Luca?", "cognome Luca?"),
        ("Onde os meus filhos estudam?", "filhos estudam?"),
        ("Waar heeft Pieter het boek van mij?", "Pieter boek ?"),
    ],
)
def test_they_are_left_out(query: str, left: str) -> None:
    assert small_words.left_out(query).split() == left.split()


@pytest.mark.parametrize(
    "query",
    [
        "who has my red hat?",
        "red hat, die cast",
        "Los Angeles, Calle de la Cruz",
        "What does Van der Berg think of El Ni\u00f1o and La Ni\u00f1a?",
        "the man in the van said die",
        "\u4ed6\u5bf9\u4ec0\u4e48\u8fc7\u654f",
    ],
)
def test_english_and_unknown_languages_stay_as_they_are(query: str) -> None:
    assert small_words.left_out(query) == query
