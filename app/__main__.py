"""``python -m app`` is ``groundwork``."""

import sys

from app.cli.main import run

sys.exit(run())
