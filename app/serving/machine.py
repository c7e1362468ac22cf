"""What this machine has: memory a process may take, and GPUs that the driver's own tool names."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

_QUERY = ("--query-gpu=name,memory.total", "--format=csv,noheader,nounits")
_MIB = 1024**2
_QUERY_SECONDS = 20.0
_AVX512 = "avx512f"
"""Flag of the x86 processors on which vLLM is fast in bfloat16: with AVX2 alone it read 3 tokens a second where it read
18 in float32 (docs/models.md). Measured with AVX-512 and AMX, and with AVX2."""


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU; its memory in bytes."""

    name: str
    memory_bytes: int


@dataclass(frozen=True, slots=True)
class Machine:
    """Memory in bytes that is free for new work, the processor cores this process may use, and the GPUs.

    ``fast_bfloat16`` says whether the processor computes in bfloat16 at least as fast as in float32.
    """

    available_bytes: int
    total_bytes: int
    cores: int
    gpus: tuple[Gpu, ...]
    fast_bfloat16: bool = True


def this_machine() -> Machine:
    """The machine of this process; the limit of its container counts as its memory."""
    total, available = _memory()
    limit = _container_limit()
    if limit is not None:
        total, available = min(total, limit[0]), min(available, limit[1])
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return Machine(
        available_bytes=available, total_bytes=total, cores=cores, gpus=_gpus(), fast_bfloat16=_fast_bfloat16()
    )


def has_fast_bfloat16(cpuinfo: str) -> bool:
    """Whether the processor of a ``/proc/cpuinfo`` is fast in bfloat16; one that is not x86 is taken to be."""
    flags = next((line.partition(":")[2].split() for line in cpuinfo.splitlines() if line.startswith("flags")), None)
    return flags is None or _AVX512 in flags


def parse_gpus(listing: str) -> tuple[Gpu, ...]:
    """GPUs in the answer of ``nvidia-smi``: one a line, its name and its MiB."""
    gpus: list[Gpu] = []
    for line in listing.splitlines():
        name, _, size = line.rpartition(",")
        if size.strip().isdigit():
            gpus.append(Gpu(name.strip(), int(size) * _MIB))
    return tuple(gpus)


def _fast_bfloat16() -> bool:
    try:
        return has_fast_bfloat16(Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return True


def _gpus() -> tuple[Gpu, ...]:
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return ()
    try:
        answer = subprocess.run([tool, *_QUERY], capture_output=True, check=True, text=True, timeout=_QUERY_SECONDS)
    except (OSError, subprocess.SubprocessError):
        return ()
    return parse_gpus(answer.stdout)


def _memory() -> tuple[int, int]:
    """Total and available bytes."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        return total, total
    sizes = {name: int(rest.split()[0]) * 1024 for name, _, rest in (line.partition(":") for line in lines)}
    return sizes["MemTotal"], sizes["MemAvailable"]


def _container_limit() -> tuple[int, int] | None:
    """Limit of this control group (version 2), and what is left of it; cached files give way."""
    folder = Path("/sys/fs/cgroup")
    try:
        limit = int((folder / "memory.max").read_text(encoding="ascii"))
        used = int((folder / "memory.current").read_text(encoding="ascii"))
        lines = (folder / "memory.stat").read_text(encoding="ascii").splitlines()
        cached = int(dict(line.split() for line in lines)["inactive_file"])
    except (OSError, ValueError, KeyError):
        return None
    return limit, max(0, limit - used + cached)
