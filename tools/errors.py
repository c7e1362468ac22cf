"""Errors of the tool layer.

ToolsError
├── ToolError           model: short, says what to do next; becomes the tool's result
│   ├── ArgumentsInvalid    the arguments do not fit the schema
│   ├── ToolUnknown         no tool of that name
│   └── OutcomeUnknown      the call was sent and no answer came
├── ToolDefinitionInvalid   operator or developer: a tool cannot be offered as written
├── DecisionConflict        caller: somebody decided before (HTTP 409)
├── ArgumentsChanged        caller: the card showed other arguments than the ones stored (HTTP 409)
├── GrantNotAllowed         caller: calls of that tool are decided one by one
└── CallUnknown             caller: no call of that id (HTTP 404)
"""


class ToolsError(Exception):
    """Base of all errors raised by this layer; the message is one sentence that names what to do."""


class ToolError(ToolsError):
    """A failure that the model reads and can act on."""


class ArgumentsInvalid(ToolError):
    """The arguments do not fit the tool's schema."""


class ToolUnknown(ToolError):
    """No tool of that name is offered."""


class OutcomeUnknown(ToolError):
    """The call was sent and no answer came: nobody knows whether the effect happened."""


class ToolDefinitionInvalid(ToolsError):
    """A tool lacks a description, has an undocumented argument, or its name is taken."""


class DecisionConflict(ToolsError):
    """The call is decided, expired or settled already; the first decision stands."""


class ArgumentsChanged(ToolsError):
    """The decision names the hash of other arguments than the stored ones."""


class CallUnknown(ToolsError):
    """No call of that id exists."""


class GrantNotAllowed(ToolsError):
    """A standing grant was asked for a tool that is decided each time."""
