"""Runs agents against an API that is killed again and again, decides and settles as people would, and then counts.

    python -m evals.kill.driver --kills 200 [--database postgresql+asyncpg://...] [--seed 7]

What must hold: no label has two effects; an approved call that is done has one and a rejected one none; a decision
that was acknowledged is the one that is stored; every call ends; every run has one terminal event.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import shutil
import signal
import socket
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

IN_FLIGHT = 4
"""Runs at work at a time, so that one kill meets several phases."""
MOST_STEPS = 6
"""An API lives until so many things have happened at most: a run begun or ended, a call seen, decided or settled."""
LAST_SECONDS = 0.5
"""Longest time that it lives on after the last of them: whatever that set off is then at work."""
LONGEST_LIFE_SECONDS = 60.0
"""It is killed then, whether anything has happened or not."""
REJECT_SHARE = 0.2
START_SECONDS = 180.0
POLL_SECONDS = 0.05
PROGRESS_EVERY = 10
FINAL_STATES = ("done", "failed", "rejected", "expired")
ENDED = ("answered", "abstained", "failed", "cancelled")


@dataclass
class Button:
    """One run and what is known of its call."""

    label: str
    run_id: str = ""
    call_id: str = ""
    acknowledged: str = ""
    """The decision that the API said yes to."""
    settled: bool = False
    ended: bool = False


@dataclass
class Findings:
    """What was counted; ``faults`` names everything that must not be."""

    kills: int = 0
    runs: int = 0
    effects: int = 0
    unknown: int = 0
    by_state: dict[str, int] = field(default_factory=dict[str, int])
    faults: list[str] = field(default_factory=list[str])

    def as_json(self) -> dict[str, Any]:
        """The findings as one object."""
        return {
            "kills": self.kills,
            "runs": self.runs,
            "effects": self.effects,
            "unknown_settled": self.unknown,
            "calls_by_state": self.by_state,
            "faults": self.faults,
        }


class Trial:
    """One home, one counting server, one scripted model, and an API that dies."""

    def __init__(self, folder: Path, *, database: str = "", seed: int = 7) -> None:
        self.folder = folder
        self.effects_file = folder / "effects.txt"
        self.random = random.Random(seed)
        self.buttons: list[Button] = []
        self.findings = Findings()
        self._database = database
        self._reviewed: set[str] = set()
        self._happened = 0
        self._model_port = _free_port()

    def environment(self, home: str = "home") -> Mapping[str, str]:
        """Settings of an API with that home below the trial's folder."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GROUNDWORK_")}
        given = {
            "GROUNDWORK_HOME": str(self.folder / home),
            "GROUNDWORK_MODEL__BASE_URL": f"http://127.0.0.1:{self._model_port}/v1",
            "GROUNDWORK_MODEL__NAME": "scripted",
            "GROUNDWORK_AGENTS__TOOL_MODE": "native",
            "GROUNDWORK_LOG__LEVEL": "ERROR",
            # The scripted model calls its tool whether it was offered or not.
            "GROUNDWORK_TOOLS__LISTING_SECONDS": "30",
        }
        return kept | given | ({"GROUNDWORK_DATABASE__URL": self._database} if self._database else {})

    async def run(self, kills: int) -> Findings:
        """Kill the API that often, then let everything come to its end and count."""
        self.prepare()
        async with self.model_server():
            while self.findings.kills < kills:
                async with self.api() as http:
                    await self._work(http, steps=self.random.randint(0, MOST_STEPS))
                    # Killed at once, with requests on the wire.
                self.findings.kills += 1
                if self.findings.kills % PROGRESS_EVERY == 0:
                    print(f"{self.findings.kills} of {kills} kills", file=sys.stderr, flush=True)  # noqa: T201
            async with self.api() as http:
                await self._finish(http)
                await self._count(http)
        return self.findings

    def prepare(self, home_name: str = "home") -> None:
        """A home whose agents can press the button."""
        home = self.folder / home_name
        home.mkdir(parents=True)
        self.effects_file.touch()
        server = {
            "command": sys.executable,
            "args": ["-m", "evals.kill.counter_server", str(self.effects_file)],
            "cwd": str(Path.cwd()),
            "trusted": True,
        }
        (home / "mcp.json").write_text(json.dumps({"mcpServers": {"counter": server}}), encoding="utf-8")

    @asynccontextmanager
    async def model_server(self) -> AsyncGenerator[None]:
        """The scripted model, as long as the context is open."""
        process = await self._spawn("evals.kill.model_server", self._model_port)
        try:
            yield
        finally:
            await _end(process)

    @asynccontextmanager
    async def api(self, home: str = "home") -> AsyncGenerator[httpx.AsyncClient]:
        """An API that answers and offers the counting tool; killed with SIGKILL at the end."""
        port = _free_port()
        process = await self._spawn("evals.kill.api", port, home)
        try:
            async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=START_SECONDS) as http:
                await self._answers(http, process)
                if home not in self._reviewed:
                    await self._review(http)
                    self._reviewed.add(home)
                yield http
        finally:
            await _end(process)

    async def _spawn(self, module: str, port: int, home: str = "home") -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            sys.executable, "-m", module, str(port), env=dict(self.environment(home)), start_new_session=True
        )

    async def _answers(self, http: httpx.AsyncClient, process: asyncio.subprocess.Process) -> None:
        async with asyncio.timeout(START_SECONDS):
            while True:
                if process.returncode is not None:
                    raise RuntimeError(f"the API ended with {process.returncode} instead of starting")
                try:
                    if (await http.get("/healthz")).is_success:
                        return
                except httpx.TransportError:
                    pass
                await asyncio.sleep(POLL_SECONDS)

    async def _review(self, http: httpx.AsyncClient) -> None:
        """Let the counting tool in, once."""
        while True:
            listing = (await http.get("/api/tools", params={"wait": "true"})).json()
            tool = next((tool for tool in listing["tools"] if tool["tool"] == "press"), None)
            if tool is not None:
                break
            await asyncio.sleep(POLL_SECONDS)
        if tool["state"] != "offered":
            body = {"server": "counter", "tool": "press", "fingerprint": tool["fingerprint"], "accept": True}
            (await http.post("/api/tools/reviews", json=body)).raise_for_status()

    async def _work(self, http: httpx.AsyncClient, *, steps: int) -> None:
        """People at work for a while: new runs, decisions, settlements; cut off in the middle of a request."""
        until = self._happened + steps
        with suppress(TimeoutError):
            async with asyncio.timeout(LONGEST_LIFE_SECONDS):
                while self._happened < until:
                    await self._step(http, begin=True)
                    await asyncio.sleep(POLL_SECONDS)
        with suppress(TimeoutError):
            async with asyncio.timeout(self.random.uniform(0.0, LAST_SECONDS)):
                while True:
                    await self._step(http, begin=True)
                    await asyncio.sleep(POLL_SECONDS)

    async def _finish(self, http: httpx.AsyncClient) -> None:
        async with asyncio.timeout(300):
            while not all(button.ended for button in self.buttons):
                await self._step(http, begin=False)
                await asyncio.sleep(POLL_SECONDS)

    async def _step(self, http: httpx.AsyncClient, *, begin: bool) -> None:
        open_buttons = [button for button in self.buttons if not button.ended]
        if begin and len(open_buttons) < IN_FLIGHT:
            button = Button(f"button-{self.random.getrandbits(48):012x}")
            await self._begin(http, button)
            self.buttons.append(button)
            open_buttons.append(button)
            self._happened += 1
        for button in open_buttons:
            run = (await http.get(f"/api/runs/{button.run_id}")).json()
            button.ended = run["state"] in ENDED
            self._happened += button.ended
        for approval in (await http.get("/api/approvals")).json()["approvals"]:
            button = next((button for button in self.buttons if button.run_id == approval["run_id"]), None)
            if button is None:
                # Its start was acknowledged to nobody.
                button = Button(approval["arguments"]["label"], run_id=approval["run_id"])
                self.buttons.append(button)
            await self._treat(http, button, approval)

    async def _begin(self, http: httpx.AsyncClient, button: Button) -> None:
        thread = (await http.post("/api/threads", json={})).raise_for_status().json()["thread_id"]
        body = {"question": f"Press {button.label}.", "agent": "operator"}
        started = await http.post(f"/api/threads/{thread}/runs", json=body)
        button.run_id = started.raise_for_status().json()["run_id"]

    async def _treat(self, http: httpx.AsyncClient, button: Button, approval: dict[str, Any]) -> None:
        self._happened += not button.call_id
        button.call_id = approval["call_id"]
        path = f"/api/approvals/{button.call_id}"
        if approval["state"] == "unknown":
            happened = button.label in self.pressed()
            again = not happened and self.random.random() < 0.5
            settlement = "happened" if happened else "try_again" if again else "did_not_happen"
            response = await http.post(f"{path}/settlement", json={"settlement": settlement})
            if response.is_success:
                self.findings.unknown += 1
                self._happened += 1
                button.acknowledged = "" if again else button.acknowledged
            return
        decision = "reject" if self.random.random() < REJECT_SHARE else "approve"
        body = {"decision": decision, "seen_hash": approval["arguments_hash"]}
        # Two clicks at once: the second one is told that it came late.
        clicks = await asyncio.gather(*(http.post(f"{path}/decision", json=body) for _ in range(2)))
        won = [click for click in clicks if click.is_success]
        if len(won) > 1:
            self.findings.faults.append(f"{button.label}: two decisions were acknowledged")
        if won:
            button.acknowledged = decision
            self._happened += 1

    def pressed(self) -> Counter[str]:
        """Effects by label."""
        return Counter(self.effects_file.read_text(encoding="utf-8").split())

    async def _count(self, http: httpx.AsyncClient) -> None:
        found, pressed = self.findings, self.pressed()
        found.runs, found.effects = len(self.buttons), sum(pressed.values())
        found.faults += [f"{label}: {count} effects" for label, count in pressed.items() if count > 1]
        states: Counter[str] = Counter()
        for button in self.buttons:
            states[await self._check(http, button, pressed[button.label])] += 1
        found.by_state = dict(states)

    async def _check(self, http: httpx.AsyncClient, button: Button, effects: int) -> str:
        faults = self.findings.faults
        ends = await self._terminal_events(http, button.run_id)
        if ends != 1:
            faults.append(f"{button.label}: {ends} terminal events")
        if not button.call_id:
            if effects:
                faults.append(f"{button.label}: an effect without a card")
            return "never proposed"
        card = (await http.get(f"/api/approvals/{button.call_id}")).json()
        call, settled = card["approval"], any(line["event"] == "settled" for line in card["audit"])
        if call["state"] not in FINAL_STATES:
            faults.append(f"{button.label}: the call is still {call['state']}")
        if button.acknowledged and call["decision"] != button.acknowledged:
            faults.append(f"{button.label}: {button.acknowledged} was acknowledged, {call['decision']} is stored")
        expected = {"done": 1, "rejected": 0}.get(call["state"])
        if expected is not None and effects != expected and not settled:
            faults.append(f"{button.label}: {call['state']} with {effects} effects")
        return str(call["state"])

    async def _terminal_events(self, http: httpx.AsyncClient, run_id: str) -> int:
        count, last = 0, 0
        async with http.stream("GET", f"/api/runs/{run_id}/events") as stream:
            async for line in stream.aiter_lines():
                if line.startswith("data:"):
                    event = json.loads(line[5:])
                    count += event["type"] in ("run_finished", "run_failed", "run_cancelled")
                    if event["seq"] <= last:
                        self.findings.faults.append(f"{run_id}: event {event['seq']} behind {last}")
                    last = event["seq"]
        return count


async def _end(process: asyncio.subprocess.Process) -> None:
    """SIGKILL to the process alone: its MCP servers find their pipes closed, as they would in real life."""
    if process.returncode is None:
        process.send_signal(signal.SIGKILL)
    await process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def main() -> None:
    """Run one trial and print its findings; exit 1 when there is a fault."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--database", default="")
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="groundwork-kill-"))
    try:
        findings = asyncio.run(Trial(folder, database=options.database, seed=options.seed).run(options.kills))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(json.dumps(findings.as_json(), indent=2))  # noqa: T201 - the figures are what the command is for
    sys.exit(1 if findings.faults else 0)


if __name__ == "__main__":
    main()
