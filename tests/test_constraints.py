"""The pins agree with each other and with what the tests ran on, so that a fresh install resolves to the same."""

from importlib.metadata import distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

CONSTRAINTS = Path(__file__).parents[1] / "constraints.txt"


def _pins() -> dict[str, Version]:
    requirements = [Requirement(line) for line in CONSTRAINTS.read_text().splitlines() if line.strip()]
    return {
        canonicalize_name(requirement.name): Version(str(requirement.specifier).removeprefix("=="))
        for requirement in requirements
    }


def test_installed_versions_are_the_pinned_ones() -> None:
    pins = _pins()
    installed = {canonicalize_name(found.name): Version(Version(found.version).public) for found in distributions()}
    differing = {
        name: f"pinned {pins[name]}, installed {version}"
        for name, version in installed.items()
        if name in pins and pins[name] != version
    }
    assert not differing


def test_pins_satisfy_each_other() -> None:
    pins = _pins()
    unmet = [
        f"{found.name} {found.version} wants {requirement}, pinned is {pins[name]}"
        for found in distributions()
        if canonicalize_name(found.name) in pins
        for requirement in map(Requirement, found.requires or [])
        if (name := canonicalize_name(requirement.name)) in pins
        and (requirement.marker is None or requirement.marker.evaluate({"extra": ""}))
        and not requirement.specifier.contains(pins[name], prereleases=True)
    ]
    assert not unmet
