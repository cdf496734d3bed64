"""What a statement is about in whatever words, and when a change of the same is read as one."""

import pytest

from holdfast import topics


def ends(new: str, old: str) -> bool:
    mine, theirs = topics.of(new), topics.of(old)
    return mine is not None and theirs is not None and topics.contradicts(mine, theirs)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The retry limit is 3", "Bumped the retry limit to 5"),
        ("Lunch is at noon", "Lunch has been pushed to half past twelve"),
        ("The rent is 950 euros", "Our landlord increased the rent to 1,020 euros"),
        ("The invoice is due on May 20", "Correction: the invoice is due on June 3"),
        ("Backups run weekly", "Backups run every day from now on"),
        ("The choir meets on Mondays", "The choir meets on Tuesdays going forward"),
        ("My son is in third grade", "My son just started fourth grade"),
        ("The logo is green", "We rebranded, the logo is purple now"),
        ("LOG_LEVEL is set to info", "Set LOG_LEVEL to debug"),
        ("Our API returns XML", "We converted the API to return JSON"),
        ("Rob approves all expenses", "Expenses are approved by Nadia from this month on"),
        ("The stack is Django, Postgres and Redis", "We dropped Redis from the stack"),
        ("The order ships to 12 Oak Lane", "Send the order to 8 Mill Road instead of 12 Oak Lane"),
        ("Our team is Ada, Ben and Chloe", "Ben left the team"),
        ("My size is M", "My size is actually L, M was wrong"),
        ("The alpha deadline is 3 May", "The alpha is due on 17 May now"),  # a date is a deadline
        ("The band rehearses on Tuesdays", "Fridays are band night ever since we lost the hall"),
        ("Parcels are sent within 24 hours", "Parcels are now sent within four hours"),
    ],
)
def test_a_change_of_the_same_ends_it(old: str, new: str) -> None:
    assert ends(new, old)
    assert not ends(old, old)
    assert not ends(new, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The retry limit is 3", "The rate limit was raised to 5"),  # of another thing
        ("The rent is 900 euros", "They raised the rent for the garage to 90 euros"),
        ("Our rent is 1,100 euros", "Our neighbours' rent was raised to 1,300 euros"),
        ("Petra's flight is at 6 pm", "Milan's flight was moved to 9 pm"),
        ("The store opens at 9 am", "The store closes at 8 pm now"),
        ("My laptop runs Linux", "The laptop at work was upgraded to Windows"),
        ("The band rehearses on Tuesdays", "The band concert is on Friday now"),
        ("The alpha deadline is 3 May", "The beta is due on 17 May now"),
        ("The basic plan answers in 24 hours", "The gold plan now answers in four hours"),
        ("The red team uses Burp", "The blue team switched to Wireshark"),
        ("My boss is Karin", "My boss moved to Berlin"),  # of another sort
        ("Our app runs on Android", "Our app now runs on iOS too"),  # beside it
        ("Marta is friends with Ivan", "Marta is friends with Tomek now"),
        ("The fee is 30 euros", "Last year the fee was 25 euros"),  # past
        ("The deadline is Friday", "What if the deadline moved to Monday?"),  # not real
        ("The limit is 60", "In the tutorial they write that the limit is 90 now"),  # said
        ("The door code is 4711", "The door code is 4712"),  # not told as a change
    ],
)
def test_what_is_of_another_or_not_told_as_a_change_ends_nothing(old: str, new: str) -> None:
    assert not ends(new, old)


def test_a_story_has_no_topic() -> None:
    told = "Ann met Bob and Carl near Lisbon, Porto, Braga, Faro, Evora, Aveiro and Tomar"
    assert topics.of(told) is None


def test_values_are_told_apart_by_their_sort() -> None:
    found = topics.of("The sync is on Mondays at 10:30 in room B")
    assert found is not None
    assert {sort for sort, _ in found.values} == {"weekday", "time", "letter"}
