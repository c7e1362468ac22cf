"""A data set of four documents and two judged queries."""

from __future__ import annotations

import json
from pathlib import Path

DOCUMENTS = [
    {
        "_id": "oom",
        "title": "Memory",
        "text": "A container above its memory limit is killed: OOMKilled, exit code 137.",
    },
    {"_id": "probe", "title": "Probes", "text": "A failing liveness probe restarts the pod."},
    {
        "_id": "cert",
        "title": "Certificates",
        "text": "A certificate is valid for ninety days.",
        "metadata": {"year": 1},
    },
    {"_id": "empty", "title": "", "text": ""},
]
QUERIES = [
    {"_id": "q1", "text": "Why was the container killed?", "metadata": {"gold": "oom"}},
    {"_id": "unjudged", "text": "What is a pod?"},
    {"_id": "q2", "text": "How long is a certificate valid?"},
]
JUDGEMENTS = [("q1", "oom", 2), ("q1", "probe", 0), ("q1", "gone", 1), ("q2", "cert", 1)]


def write_dataset(folder: Path) -> Path:
    """The folder, filled."""
    (folder / "qrels").mkdir(parents=True)
    for name, rows in (("corpus", DOCUMENTS), ("queries", QUERIES)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    lines = ["query-id\tcorpus-id\tscore", *("\t".join(map(str, row)) for row in JUDGEMENTS)]
    (folder / "qrels" / "test.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder
