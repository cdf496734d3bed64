import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(  # disks and machines differ: time is no failure here
    "holdfast", deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
settings.load_profile("holdfast")
pytest.register_assert_rewrite("holdfast.testing")


@pytest.fixture(autouse=True)
def _away_from_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test, and no process it starts, can touch the developer's own memories."""
    for name in os.environ:
        if name.startswith(("HOLDFAST_", "XDG_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'memory.db'}"
