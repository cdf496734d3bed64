import shutil
from pathlib import Path

import pytest

from tools import unasync


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the source and its twin, free to spoil."""
    for path in (path for pair in unasync.PAIRS for path in pair):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(unasync.ROOT / path, tmp_path / path)
    return tmp_path


def check(tree: Path) -> int:
    return unasync.main(["--check", "--root", str(tree)])


def test_the_twin_is_what_the_source_gives() -> None:
    assert check(unasync.ROOT) == 0


def test_the_twin_says_that_it_is_generated() -> None:
    first = (unasync.ROOT / unasync.TARGET).read_text().splitlines()[0]
    assert "Generated" in first
    assert str(unasync.SOURCE) in first


@pytest.mark.parametrize("spoil", ["# more\n", "\n\ndef more() -> None:\n    return None\n"])
def test_code_appended_to_the_twin_is_caught(tree: Path, spoil: str) -> None:
    assert check(tree) == 0
    with (tree / unasync.TARGET).open("a") as twin:
        twin.write(spoil)
    assert check(tree) == 1


def test_a_missing_or_shortened_twin_is_caught(tree: Path) -> None:
    twin = tree / unasync.TARGET
    twin.write_text(twin.read_text()[:-20])
    assert check(tree) == 1
    twin.unlink()
    assert check(tree) == 1
    assert unasync.main(["--root", str(tree)]) == 0
    assert check(tree) == 0


def test_a_rule_that_matches_nothing_fails_the_run() -> None:
    with pytest.raises(unasync.Stale, match="matches nothing"):
        unasync.translate("x = 1\n", [("AsyncGone", "Gone")])


@pytest.mark.parametrize(
    "code", ["async def f(): pass", "f = lambda: [x async for x in y]", "def f(): await g()"]
)
def test_colour_that_no_rule_removes_fails_the_run(code: str) -> None:
    with pytest.raises(unasync.Stale, match="no rule for"):
        unasync.translate(code, [])
