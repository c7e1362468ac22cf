"""Errors of the agent layer.

AgentError
├── ModelUnavailable  infrastructure: the model server does not answer; may be retried
├── ModelTimeout      infrastructure: the model server answered too slowly
├── ModelRefused      operator or caller: the model server rejected the request (too long, bad key, unknown model)
├── AgentsInvalid     operator: the declaration of agents does not fit
└── AgentUnknown      caller: no agent of that name
"""


class AgentError(Exception):
    """Base of all errors raised by this layer; the message is one sentence that names what to do."""


class ModelUnavailable(AgentError):
    """The model server cannot be reached or is still loading."""


class ModelTimeout(AgentError):
    """No token came within the time limit."""


class ModelRefused(AgentError):
    """The model server rejected the request."""


class AgentsInvalid(AgentError):
    """``agents.toml`` cannot be read or names what is not there."""


class AgentUnknown(AgentError):
    """No agent of that name is declared."""
