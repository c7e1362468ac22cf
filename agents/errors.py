"""Errors of the agent layer.

AgentError
├── ModelUnavailable  infrastructure: the model server does not answer; may be retried
│   └── ModelBusy     infrastructure: the model server is loading or has no room now
├── ModelTimeout      infrastructure: the model server answered too slowly
├── ModelRefused      operator or caller: the model server rejected the request (too long, bad key, unknown model)
├── AgentsInvalid     operator: the declaration of agents does not fit
├── AgentUnknown      caller: no agent of that name
├── ModelUnknown      caller: no chat model of that name
├── SchemaInvalid     caller: the schema of the output is none, or cannot be asked of a model
├── OutputInvalid     infrastructure: what the model wrote does not fit the schema of the output
├── ThresholdsInvalid operator: the file with the thresholds of abstention cannot be used
└── JudgeFailed       operator: the second judge of claims gave no opinion; the proof stands alone
"""


class AgentError(Exception):
    """Base of all errors raised by this layer; the message is one sentence that names what to do."""


class ModelUnavailable(AgentError):
    """The model server cannot be reached or is still loading."""


class ModelBusy(ModelUnavailable):
    """The model server is loading, or has more requests than it takes; the same request may succeed soon."""


class ModelTimeout(AgentError):
    """No token came within the time limit."""


class ModelRefused(AgentError):
    """The model server rejected the request."""


class AgentsInvalid(AgentError):
    """``agents.toml`` cannot be read or names what is not there."""


class AgentUnknown(AgentError):
    """No agent of that name is declared."""


class ModelUnknown(AgentError):
    """No chat model of that name is configured."""


class JudgeFailed(AgentError):
    """The second judge of claims gave no opinion."""


class SchemaInvalid(AgentError):
    """The schema of the output is no JSON Schema of an object."""


class OutputInvalid(AgentError):
    """What the model wrote does not fit the schema of the output, again and again."""


class ThresholdsInvalid(AgentError):
    """The file with the thresholds of abstention cannot be used."""
