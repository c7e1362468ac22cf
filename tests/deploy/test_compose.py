import asyncio
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from compose_spec import PyCompose

from app.settings import load_settings
from tests.deploy.compose_file import ROOT, MissingVariable, read_compose, read_env_file

KEYS = {"QDRANT_API_KEY": "store-key", "VLLM_API_KEY": "model-key"}
PROFILES = sorted((ROOT / "deploy" / "vllm").glob("*.env"))
OURS = {"models", "api", "ui"}


@pytest.fixture
def compose() -> dict[str, Any]:
    return read_compose(KEYS)


@pytest.fixture
def services(compose: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return compose["services"]


def test_file_conforms_to_the_compose_specification(compose: dict[str, Any]):
    PyCompose.from_yaml(yaml.safe_dump(compose)).validate()


def test_services_are_the_ones_the_documentation_names(services: dict[str, Any]):
    assert set(services) == {"qdrant", "vllm", "vllm-cpu", "models", "api", "ui", "prometheus"}


def test_only_api_chat_and_prometheus_are_published_and_on_loopback_alone(services: dict[str, Any]):
    published = {name: service["ports"] for name, service in services.items() if "ports" in service}
    assert published == {
        "api": ["127.0.0.1:8080:8080"],
        "ui": ["127.0.0.1:8501:8501"],
        "prometheus": ["127.0.0.1:9090:9090"],
    }
    assert not any("network_mode" in service or "expose" in service for service in services.values())


def test_every_image_has_a_tag_that_does_not_move(services: dict[str, Any]):
    for service in services.values():
        assert re.fullmatch(r"[\w./-]+:v?\d+\.\d+\.\d+[\w.-]*", service["image"]), service["image"]


def test_every_service_but_the_one_that_ends_has_a_health_check(services: dict[str, Any]):
    assert {name for name, service in services.items() if "healthcheck" not in service} == {"models"}
    assert all(service["healthcheck"]["test"][0] == "CMD" for name, service in services.items() if name != "models")


def test_every_container_drops_its_capabilities_and_restarts(services: dict[str, Any]):
    for name, service in services.items():
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert service["restart"] == ("no" if name == "models" else "unless-stopped")
        assert "privileged" not in service


def test_our_containers_and_the_store_have_a_read_only_root(services: dict[str, Any]):
    assert {name for name, service in services.items() if service.get("read_only")} == {*OURS, "qdrant", "prometheus"}


def test_dependencies_wait_for_health_and_form_no_circle(services: dict[str, Any]):
    allowed = {"service_healthy", "service_completed_successfully"}
    edges = {name: service.get("depends_on", {}) for name, service in services.items()}
    assert all(edge["condition"] in allowed for targets in edges.values() for edge in targets.values())
    done: set[str] = set()
    while ready := {name for name, targets in edges.items() if name not in done and set(targets) <= done}:
        done |= ready
    assert done == set(services)


def test_a_service_of_a_profile_is_never_required(services: dict[str, Any]):
    for service in services.values():
        for name, edge in service.get("depends_on", {}).items():
            assert edge.get("required", True) is not bool(services[name].get("profiles"))


def test_networks_and_volumes_in_use_are_declared_and_no_other(compose: dict[str, Any]):
    services = compose["services"].values()
    networks = {name for service in services for name in service["networks"]}
    volumes = {
        entry.split(":")[0]
        for service in services
        for entry in service.get("volumes", [])
        if not entry.startswith((".", "/"))
    }
    assert networks == set(compose["networks"])
    assert volumes == set(compose["volumes"])


def test_the_store_has_no_way_out_of_its_network(compose: dict[str, Any]):
    assert compose["services"]["qdrant"]["networks"] == ["store"]
    assert compose["networks"]["store"] == {"internal": True}


def test_prometheus_reads_api_and_model_server_at_names_they_have(services: dict[str, Any]):
    text = (ROOT / "deploy" / "prometheus" / "prometheus.yml").read_text(encoding="utf-8")
    jobs = yaml.safe_load(text)["scrape_configs"]
    targets = {job["job_name"]: job["static_configs"][0]["targets"] for job in jobs}
    assert targets == {"groundwork": ["api:8080"], "vllm": ["vllm:8000"]}
    for name in ("api", "vllm", "vllm-cpu"):
        assert set(services[name]["networks"]) & set(services["prometheus"]["networks"])
    assert services["vllm-cpu"]["networks"]["model"]["aliases"] == ["vllm"]
    assert "api" in load_settings(services["api"]["environment"]).server.allowed_hosts


def test_chat_ui_reaches_the_api_alone(services: dict[str, Any]):
    members = {name: set(service["networks"]) for name, service in services.items()}
    assert {name for name, networks in members.items() if networks & members["ui"]} == {"api", "ui"}


@pytest.mark.parametrize("missing", sorted(KEYS))
def test_a_missing_key_is_refused(missing: str):
    with pytest.raises(MissingVariable) as error:
        read_compose({name: value for name, value in KEYS.items() if name != missing})
    assert error.value.name == missing


def test_api_environment_is_valid_settings_for_the_servers(services: dict[str, Any]):
    settings = load_settings(services["api"]["environment"])
    assert settings.store.home == "qdrant"
    assert settings.store.url == "http://qdrant:6333"
    assert settings.store.api_key is not None
    assert settings.store.api_key.get_secret_value() == KEYS["QDRANT_API_KEY"]
    assert settings.model.base_url == "http://vllm:8000/v1"
    assert settings.model.api_key is not None
    assert settings.model.api_key.get_secret_value() == KEYS["VLLM_API_KEY"]
    assert "api" in settings.server.allowed_hosts


def test_api_and_model_pull_have_the_same_settings(services: dict[str, Any]):
    assert services["models"]["environment"] == services["api"]["environment"]


def test_keys_stand_in_no_command_line(services: dict[str, Any]):
    commands = [str(service.get(part)) for service in services.values() for part in ("command", "entrypoint")]
    assert not any(key in command for command in commands for key in KEYS.values())


@pytest.mark.parametrize("path", PROFILES, ids=lambda path: path.stem)
def test_profile_starts_one_model_server_with_its_model(path: Path):
    variables = read_env_file(path)
    services = read_compose({**KEYS, **variables})["services"]
    started = [name for name, service in services.items() if service.get("profiles") == [variables["COMPOSE_PROFILES"]]]
    assert len(started) == 1
    arguments = shlex.split(services[started[0]]["command"])
    assert arguments[arguments.index("--model") + 1] == variables["CHAT_MODEL"]
    assert arguments[arguments.index("--max-model-len") + 1] == variables["CHAT_CONTEXT_TOKENS"]
    assert services["api"]["environment"]["GROUNDWORK_MODEL__CONTEXT_TOKENS"] == variables["CHAT_CONTEXT_TOKENS"]
    assert services["api"]["environment"]["GROUNDWORK_MODEL__NAME"] == "chat"
    assert arguments[arguments.index("--served-model-name") + 1] == "chat"


@pytest.mark.parametrize("path", PROFILES, ids=lambda path: path.stem)
def test_profile_says_what_was_not_run(path: Path):
    assert "NOT RUN" in path.read_text(encoding="utf-8")


def test_every_variable_of_the_compose_file_is_documented():
    text = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
    used = set(re.findall(r"(?<!\$)\$\{(\w+)", text))
    files = [ROOT / "deploy" / "compose.env.example", *PROFILES]
    documented = {
        name for file in files for name in re.findall(r"^#? ?(\w+)=", file.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert used == documented - {"COMPOSE_PROFILES"}


@pytest.mark.parametrize("name", ["qdrant", "api", "ui", "vllm", "vllm-cpu"])
@pytest.mark.parametrize(("status", "healthy"), [(200, True), (503, False)])
async def test_health_check_tells_a_ready_server_from_one_that_is_not(
    services: dict[str, Any], name: str, status: int, healthy: bool
):
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.0 {status} Status\r\nContent-Length: 0\r\n\r\n".encode())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    command = [
        re.sub(r"127\.0\.0\.1([:/])\d+", rf"127.0.0.1\g<1>{port}", part)
        for part in services[name]["healthcheck"]["test"][1:]
    ]
    async with server:
        process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.DEVNULL)
        assert (await process.wait() == 0) is healthy
