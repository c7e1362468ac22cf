"""The API of a home with hashed embeddings, so that a process is up in seconds; everything else is the real thing.

python -m evals.kill.api PORT    (settings from the environment, as always)
"""

from __future__ import annotations

import os
import sys

import uvicorn

from app.main import create_app
from app.settings import load_settings
from retrieval.embedders.hashing import HashingEmbedder


def main(port: int) -> None:
    """Serve until the process is killed."""
    app = create_app(load_settings(os.environ), embedder=HashingEmbedder())
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")


if __name__ == "__main__":
    main(int(sys.argv[1]))
