"""A thread begins with the first thing that is put into it, and takes over what was chosen for it before."""

from __future__ import annotations

from ui import asked_with, session


def begin_thread() -> str:
    """Create a thread with the model, sampling and preset chosen on the empty page; returns its id.

    Raises:
        ApiUnreachable, ApiRefused: As of ``ui.client.ApiClient``.
    """
    client = session.client()
    thread_id = client.create_thread().thread_id
    if preset := asked_with.hand_over(thread_id).preset:
        client.presets.set_for_thread(thread_id, preset)
    return thread_id
