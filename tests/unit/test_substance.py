import pytest

from holdfast.extract import substance


@pytest.mark.parametrize(
    "told",
    [
        "I'm gonna keep going and reach my dreams no matter what.",
        "The event was really thought-provoking.",
        "It's been a wild ride, but I'm feeling good.",
        "I painted it because it was calming.",
        "I'm so happy for you that you found a place.",
        "Our kids are our future and the best we have.",
        "I have been super busy lately.",
    ],
)
def test_what_only_praises_or_feels_is_idle(told: str) -> None:
    assert substance.idle(told)


@pytest.mark.parametrize(
    "told",
    [
        "I got promoted at work!",
        "I love live music.",
        "Dance is my passion.",
        "The theme is dark.",
        "The second import failed with a timeout.",
        "I ran an experiment today.",
        "It was Matt Patterson.",
        "The room is 4B.",
        "I took the first step towards becoming a mom.",
    ],
)
def test_what_tells_something_is_not(told: str) -> None:
    assert not substance.idle(told)


def test_a_word_is_light_in_every_form_and_no_other_word_is() -> None:
    assert {"goes", "trying", "chased", "quitting", "stories"} <= substance.LIGHT
    assert not {"import", "experiment", "partner", "workshop"} & substance.LIGHT


def test_beside_what_was_said_less_is_enough() -> None:
    assert substance.adds("It made me feel at home.")
    assert not substance.adds("It was so great!")
    assert substance.leans("I have had it since Monday.")
    assert not substance.leans("I sold my car and miss it.")
