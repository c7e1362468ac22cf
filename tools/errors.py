"""Errors of the tool layer.

ToolsError
├── ToolError           model: short, says what to do next; becomes the tool's result
│   ├── ArgumentsInvalid    the arguments do not fit the schema
│   ├── ToolUnknown         no tool of that name
│   ├── FactInvalid         a fact to remember is empty or too long (HTTP 422)
│   ├── FactUnknown         no remembered fact of that id (HTTP 404)
│   ├── MemoryFull          as many facts are remembered as are kept (HTTP 409)
│   └── OutcomeUnknown      the call was sent and no answer came
├── ToolDefinitionInvalid   operator or developer: a tool cannot be offered as written
├── DecisionConflict        caller: somebody decided before (HTTP 409)
│   └── CallExpired             nobody decided in time (HTTP 409)
├── ArgumentsChanged        caller: the card showed other arguments than the ones stored (HTTP 409)
├── GrantNotAllowed         caller: calls of that tool are decided one by one, or the patterns miss the call (HTTP 422)
├── GrantUnknown            caller: no standing grant of that id (HTTP 404)
├── CallUnknown             caller: no call of that id (HTTP 404)
├── ServerUnknown           caller: no MCP server or no tool of that name is configured (HTTP 404)
├── ReviewStale             caller: the tool changed after the person looked at it (HTTP 409)
└── ServerUnavailable       infrastructure: an MCP server does not answer a person's request (HTTP 503)
"""


class ToolsError(Exception):
    """Base of all errors raised by this layer; the message is one sentence that names what to do."""


class ToolError(ToolsError):
    """A failure that the model reads and can act on."""


class ArgumentsInvalid(ToolError):
    """The arguments do not fit the tool's schema."""


class ToolUnknown(ToolError):
    """No tool of that name is offered."""


class FactInvalid(ToolError):
    """A fact to remember is empty or too long."""


class FactUnknown(ToolError):
    """No remembered fact of that id belongs to the user."""


class MemoryFull(ToolError):
    """The user has as many remembered facts as are kept."""


class OutcomeUnknown(ToolError):
    """The call was sent and no answer came: nobody knows whether the effect happened."""


class ToolDefinitionInvalid(ToolsError):
    """A tool lacks a description, has an undocumented argument, or its name is taken."""


class DecisionConflict(ToolsError):
    """The call is decided, expired or settled already; the first decision stands."""


class CallExpired(DecisionConflict):
    """The call was not decided before its time ran out."""


class ArgumentsChanged(ToolsError):
    """The decision names the hash of other arguments than the stored ones."""


class CallUnknown(ToolsError):
    """No call of that id exists."""


class GrantNotAllowed(ToolsError):
    """A standing grant was asked for a tool that is decided each time, or with patterns that miss the call."""


class GrantUnknown(ToolsError):
    """No standing grant of that id."""


class ServerUnknown(ToolsError):
    """No MCP server of that name is configured, or it has no such tool."""


class ReviewStale(ToolsError):
    """The tool's definition is another one than the reviewer saw."""


class ServerUnavailable(ToolsError):
    """An MCP server cannot be reached, or refused what a person asked of it."""
