"""How Tightrope is installed stands in one place, src/tightrope/version.py: messages use it, and pages say the same."""

from __future__ import annotations

import pytest

from release import install
from release.install import INSTALLS, NAME, ROOT, said, texts
from tightrope import version
from tightrope.version import FROM, install_command


def test_pages_and_messages_install_from_where_it_is() -> None:
    """Where this fails at a release, `python -m release.install` changes the pages."""
    assert [str(path.relative_to(ROOT)) for path, text in texts() if said(text) != text] == []
    assert sum(len(INSTALLS.findall(text)) for _, text in texts()) >= 10  # else they are written in another way


@pytest.mark.skipif(FROM == NAME, reason="it is on an index")
def test_the_name_with_an_extra_stands_nowhere_else() -> None:
    assert [str(path.relative_to(ROOT)) for path, text in texts() if f"{NAME}[" in text] == []


def test_the_command_and_the_pages_after_a_release(monkeypatch: pytest.MonkeyPatch) -> None:
    assert install_command("plot").startswith(f"pip install '{FROM}[plot]'")
    monkeypatch.setattr(version, "FROM", NAME)
    monkeypatch.setattr(version, "WHERE", "")
    monkeypatch.setattr(install, "FROM", NAME)
    assert install_command("plot") == f"pip install '{NAME}[plot]'"
    assert install_command(upgrade=True) == f"pip install --upgrade {NAME}"
    assert said("`pip install .`, pip install '.[plot,sweep]'\npip install --upgrade .") == (
        f"`pip install {NAME}`, pip install '{NAME}[plot,sweep]'\npip install --upgrade {NAME}"
    )
    assert said("pip install 'opacus>=1.5', pip install ./wheel, pip install . in the clone") == (
        f"pip install 'opacus>=1.5', pip install ./wheel, pip install {NAME} in the clone"
    )
