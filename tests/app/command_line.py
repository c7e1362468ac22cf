"""The command line in this process, over the real API with small parts."""

from __future__ import annotations

import io
import json
import re
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.cli.invocation import Connect
from app.cli.main import run


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a command ended."""

    code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        """The document on stdout, which holds nothing else."""
        return json.loads(self.stdout)


@dataclass(frozen=True, slots=True)
class CommandLine:
    """Commands on one home."""

    home: Path
    connect: Connect
    options: tuple[str, ...] = field(default=())

    def __call__(self, *args: str) -> Outcome:
        """Run one command."""
        stdout, stderr = io.StringIO(), io.StringIO()
        with redirect_stdout(stdout), redirect_stderr(stderr):
            code = run(["--home", str(self.home), *self.options, *args], connect=self.connect)
        return Outcome(code, stdout.getvalue(), stderr.getvalue())


def one_sentence(text: str) -> bool:
    """Whether a person gets one line that ends as a sentence, and no traceback."""
    return re.fullmatch(r"[^\n]+[.)]\n", text) is not None
