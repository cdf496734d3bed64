"""."""


def add(router: object) -> None:
    """Adds."""
