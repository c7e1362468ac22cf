"""What a model behind a server can do: what the server says, and what the operator says over it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

ToolMode: TypeAlias = Literal["native", "constrained"]
ServerKind: TypeAlias = Literal["vllm", "llama.cpp", "other"]


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What may be asked of a model. None: nobody has said, and it has not been asked yet.

    Attributes:
        kind: Which server it is, by what the server calls itself.
        context_tokens: Length of the context window.
        tools: ``native`` when the server takes tools and finds calls in the reply, else ``constrained``.
        structured: The server holds a reply to a JSON Schema.
        images: The model reads pictures.
        reasoning: The server tells thoughts from the reply.
        models: Every model that the server lists, LoRA adapters among them.
    """

    kind: ServerKind = "other"
    context_tokens: int | None = None
    tools: ToolMode | None = None
    structured: bool | None = None
    images: bool | None = None
    reasoning: bool | None = None
    models: tuple[str, ...] = ()

    def over(self, found: Capabilities) -> Capabilities:
        """These, and what was found where these say nothing; kind and models are always the found ones."""
        return replace(
            found,
            context_tokens=self.context_tokens or found.context_tokens,
            tools=self.tools or found.tools,
            structured=found.structured if self.structured is None else self.structured,
            images=found.images if self.images is None else self.images,
            reasoning=found.reasoning if self.reasoning is None else self.reasoning,
        )
