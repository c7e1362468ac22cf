from __future__ import annotations

import threading

import pytest

from agents.events import Token
from app.schema import RunRequest
from tests.ui.servers import free_port
from tests.ui.stub_api import StubState
from ui.client import ApiClient, UploadFile
from ui.errors import ApiRefused, ApiUnreachable


def _ask(client: ApiClient, question: str) -> str:
    thread = client.create_thread()
    return client.start_run(thread.thread_id, RunRequest(question=question)).run_id


def test_followed_run_gives_every_event_once_and_ends_with_the_terminal_one(client: ApiClient) -> None:
    run_id = _ask(client, "Why did my pod restart?")

    events = [event for event in client.follow(run_id) if event is not None]

    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert events[-1].type == "run_finished"
    assert client.run(run_id).state == "answered"


def test_attaching_behind_an_event_gives_the_rest(client: ApiClient) -> None:
    run_id = _ask(client, "Why did my pod restart?")
    every = [event for event in client.follow(run_id) if event is not None]

    rest = [event for event in client.follow(run_id, after=5) if event is not None]

    assert rest == every[5:]


def test_quiet_run_hands_control_back_and_loses_nothing(client: ApiClient) -> None:
    run_id = _ask(client, "wait")
    seen: list[int] = []
    for event in client.follow(run_id, idle_seconds=0.05):
        if event is not None:
            seen.append(event.seq)
        elif len(seen) == 2:
            # Cancelled from elsewhere while this reader is attached for the second time.
            threading.Thread(target=client.cancel_run, args=(run_id,)).start()

    assert seen == [1, 2, 3]
    assert client.run(run_id).state == "cancelled"


def test_leaving_the_events_does_not_stop_the_run(client: ApiClient, state: StubState) -> None:
    state.token_seconds = 0.01
    run_id = _ask(client, "Why did my pod restart?")
    for event in client.follow(run_id):
        if isinstance(event, Token):
            break

    assert [event.type for event in client.follow(run_id) if event][-1] == "run_finished"
    assert state.cancels == []


def test_refusal_carries_the_sentence_and_the_code_of_the_problem(client: ApiClient) -> None:
    with pytest.raises(ApiRefused, match="There is no thread 'gone'") as refused:
        client.thread("gone")

    assert (refused.value.status, refused.value.code) == (404, "thread_unknown")


def test_id_from_the_address_bar_cannot_reach_another_route(client: ApiClient) -> None:
    with pytest.raises(ApiRefused) as refused:
        client.thread("../documents?x=")

    assert refused.value.status == 404


def test_api_that_is_down_is_one_sentence_that_says_how_to_start_it() -> None:
    url = f"http://127.0.0.1:{free_port()}"

    with ApiClient(url) as client, pytest.raises(ApiUnreachable) as down:
        client.threads()

    assert str(down.value) == f"Groundwork's API does not answer at {url}; start it with: groundwork up"


def test_another_server_at_the_address_is_named(client: ApiClient, api_url: str) -> None:
    with ApiClient(f"{api_url}/api/documents/doc-1") as stranger, pytest.raises((ApiUnreachable, ApiRefused)):
        stranger.threads()


def test_uploaded_file_is_listed_and_deleted_with_a_receipt(client: ApiClient) -> None:
    job = client.upload([UploadFile("note.md", b"A note.")], collection="notes")
    assert job.report is not None
    document_id = job.report.files[0].document_id

    assert client.inside.text(document_id) == "A note."
    assert [record.source for record in client.documents() if record.collection == "notes"] == ["upload:note.md"]
    assert client.delete_document(document_id).chunks_left == 0
    with pytest.raises(ApiRefused):
        client.document(document_id)
