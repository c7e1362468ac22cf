"""Errors of the evaluation harness.

EvaluationError
├── DatasetUnreadable    caller: the folder is no data set that can be read
├── QuestionsUnreadable  caller: the file of questions cannot be read
├── BaselineUnreadable   caller: the file of a baseline is missing or none
├── TasksUnreadable      caller: the file of agent tasks cannot be read
├── WorldUnusable        operator: what agent tasks are played on cannot be set up
└── BenchmarkMissing     operator: the package of a benchmark is not installed
"""


class EvaluationError(Exception):
    """Base of all errors raised by this package; the message is one sentence that names what to do."""


class DatasetUnreadable(EvaluationError):
    """A file of the data set is missing, or a line of it says something else than its format."""


class QuestionsUnreadable(EvaluationError):
    """The file of questions is missing, or a line of it is no question."""


class BaselineUnreadable(EvaluationError):
    """The file of a baseline is missing, or holds something else."""


class TasksUnreadable(EvaluationError):
    """The file of agent tasks is missing, or a line of it is no task."""


class WorldUnusable(EvaluationError):
    """The pretend cluster does not start, or the documents of the tasks cannot be ingested."""


class BenchmarkMissing(EvaluationError):
    """The package of a benchmark is not installed."""
