from pathlib import Path

import pytest

from tools import budgets


def plant(root: Path, code: str, name: str = "text.py", readme: int = 1) -> Path:
    file = root / "src" / "holdfast" / name
    file.parent.mkdir(parents=True)
    file.write_text(code)
    (root / "README.md").write_text("line\n" * readme)
    return root


def function(lines: int, name: str = "f") -> str:
    return f"def {name}() -> int:\n" + "    1\n" * (lines - 1)


def test_this_tree_keeps_its_budgets() -> None:
    assert budgets.measure(budgets.ROOT).offenders == []


def test_a_tree_within_its_budgets_passes_and_is_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert budgets.main(plant(tmp_path, function(7) + function(3, "g"))) == 0
    assert capsys.readouterr().out == (
        "2 functions: median 5, p95 3, longest 7 lines | 1 files: longest 10 lines"
        " | README 1 lines\n"
    )


@pytest.mark.parametrize(
    ("code", "name", "readme", "offence"),
    [
        ("", "text.py", 1, "no functions found"),
        (function(81), "text.py", 1, "text.py:1 f: 81 lines, over 80"),
        (function(3) + function(11, "g") * 2, "text.py", 1, "median function of 11 lines"),
        (function(3) * 18 + function(46, "g") * 3, "text.py", 1, "95th percentile"),
        (function(3) + "\n" * 600, "text.py", 1, "text.py: 603 lines, over 600"),
        (function(3) + "def g(): 1\n", "text.py", 1, "text.py:4 g: no return annotation"),
        (f"class A:\n    async {function(2)[:5]}(self): 1\n", "a.py", 1, "no return annotation"),
        (function(3), "utils.py", 1, "'utils' says where it stands"),
        (function(3), "_helpers/text.py", 1, "'_helpers' says where it stands"),
        (function(3), "engine/base.py", 1, "'base' says where it stands"),
        (function(3), "text.py", 141, "README.md: 141 lines, over 140"),
    ],
)
def test_a_planted_offender_is_caught(
    code: str,
    name: str,
    readme: int,
    offence: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert budgets.main(plant(tmp_path, code, name, readme)) == 1
    assert offence in capsys.readouterr().err
