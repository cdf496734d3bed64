"""Which packages of Debian are brought for whoever is not root."""

import pytest

from tools.chromium import _package


@pytest.mark.parametrize(
    ("file", "package"),
    [
        ("chromium_150.0.7871.100-1~deb12u1_amd64.deb", "chromium:amd64=150.0.7871.100-1~deb12u1"),
        ("libgtk_1%3a3.24-5_arm64.deb", "libgtk:arm64=1:3.24-5"),
        ("fonts-inter_3.19+ds-2_all.deb", "fonts-inter=3.19+ds-2"),
    ],
)
def test_a_package_is_asked_for_by_the_name_of_its_file(file: str, package: str) -> None:
    assert _package(file) == package
