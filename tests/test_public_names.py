import holdfast

PUBLIC = {
    # the two doors
    "AsyncMemory",
    "Memory",
    # what goes in and comes out
    "Hit",
    "Recalled",
    "Record",
    "Remembered",
    "Source",
    "Weights",
    "block",
    # what can go wrong
    "Busy",
    "Closed",
    "Conflict",
    "EmbedderFailed",
    "EmbedderMismatch",
    "ExtractorFailed",
    "Forbidden",
    "HoldfastError",
    "Invalid",
    "LimitReached",
    "NotFound",
    "Refused",
    "RateLimited",
    "StoreBroken",
    "StoreFull",
    "StoreReadOnly",
    "StoreTooNew",
    "TooLarge",
    "Unauthenticated",
    "Unavailable",
}


def test_the_shop_window_shows_these_names_and_no_others() -> None:
    assert sorted(holdfast.__all__) == sorted(PUBLIC)


def test_every_name_in_the_window_is_there() -> None:
    assert [name for name in holdfast.__all__ if not hasattr(holdfast, name)] == []
