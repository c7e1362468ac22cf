"""Named chat models and the choice among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agents.errors import ModelUnknown
from agents.gateway.endpoint import Endpoint
from agents.gateway.route import RoutedChatModel


class ModelGateway:
    """Belongs to one event loop."""

    def __init__(self, endpoints: Sequence[Endpoint], *, default: str) -> None:
        """Raises ``ModelUnknown`` when a fallback or the default names what is not there."""
        self._endpoints: Mapping[str, Endpoint] = {endpoint.name: endpoint for endpoint in endpoints}
        self._default = default
        for endpoint in endpoints:
            for name in endpoint.fallback:
                self._endpoint(name)
        self._endpoint(default)

    @property
    def default(self) -> str:
        """Name of the model that is taken when none is named."""
        return self._default

    @property
    def endpoints(self) -> tuple[Endpoint, ...]:
        """All of them, the default one first."""
        return tuple(sorted(self._endpoints.values(), key=lambda endpoint: endpoint.name != self._default))

    def endpoint(self, name: str = "") -> Endpoint:
        """The endpoint of that name, the default one for an empty name; raises ``ModelUnknown``."""
        return self._endpoint(name or self._default)

    def select(self, name: str = "") -> RoutedChatModel:
        """The model of that name with all that stand in for it; raises ``ModelUnknown``."""
        chosen = self.endpoint(name)
        chain = [chosen, *(self._endpoint(other) for other in chosen.fallback)]
        return RoutedChatModel(tuple({endpoint.name: endpoint for endpoint in chain}.values()))

    def _endpoint(self, name: str) -> Endpoint:
        try:
            return self._endpoints[name]
        except KeyError:
            known = ", ".join(sorted(self._endpoints))
            raise ModelUnknown(f"There is no model {name!r}; there are: {known}.") from None
