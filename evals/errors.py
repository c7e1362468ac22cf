"""Errors of the evaluation harness.

EvaluationError
├── DatasetUnreadable    caller: the folder is no data set that can be read
└── BenchmarkMissing     operator: the package of a benchmark is not installed
"""


class EvaluationError(Exception):
    """Base of all errors raised by this package; the message is one sentence that names what to do."""


class DatasetUnreadable(EvaluationError):
    """A file of the data set is missing, or a line of it says something else than its format."""


class BenchmarkMissing(EvaluationError):
    """The package of a benchmark is not installed."""
