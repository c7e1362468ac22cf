from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.analyser import STOP_WORDS, analyse, tokens


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("OOMKilled", ["oomkil", "oom", "kill"]),
        ("CrashLoopBackOff", ["crashloopbackoff", "crash", "loop", "back", "off"]),
        ("kube_pod_status", ["kubepodstatus", "kube", "pod", "status"]),
        ("--max-old-space-size", ["maxoldspaces", "max", "old", "space", "size"]),
        ("CVE-2024-3094", ["cve20243094", "cve", "2024", "3094"]),
        ("/var/lib/kubelet", ["var/lib/kubelet", "var", "lib", "kubelet"]),
        ("v1.29.3", ["v1.29.3", "v1", "29", "3"]),
        ("10.0.0.1", ["10.0.0.1"]),
        ("10.96.0.0/12", ["10.96.0.0/12"]),
        ("10.0.0.1:8080.", ["10.0.0.1:8080"]),
        ("exit code 137", ["exit", "code", "137"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("the pods were restarting", ["pod", "restart"]),
        ("a pod's limit, isn't it?", ["pod", "limit"]),
        ("vitamin C", ["vitamin", "c"]),
        ("__init__", ["init"]),
        ("café naïve", ["cafe", "naiv"]),
        ("ｆｕｌｌ１２", ["full12"]),
        ("soft\u00adware", ["softwar"]),
        ("Привет, мир", ["привет", "мир"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("العَرَبِيَّة", ["العربية"]),
        ("容器内存", ["容器", "器内", "内存"]),
        ("水", ["水"]),
        ("pod容器crash", ["pod", "容器", "crash"]),
        ("컨테이너", ["컨테", "테이", "이너"]),
        ("what is the", []),
        ("... ??? \n", []),
        ("🚀", []),
        ("___", []),
        ("", []),
    ],
)
def test_a_text_gives_its_terms_in_order(text: str, terms: list[str]) -> None:
    assert analyse(text) == terms


@pytest.mark.parametrize("spelling", ["crash-loop", "crash_loop", "crashloop", "CrashLoop", "CRASH-LOOP", "Crash_Loop"])
def test_spellings_of_one_word_share_a_term(spelling: str) -> None:
    assert "crashloop" in analyse(spelling)


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("Last State: Terminated, Reason: OOMKilled", "oomkilled"),
        ("Last State: Terminated, Reason: OOMKilled", "OOM"),
        ("ImagePullBackOff", "image pull"),
        ("spec.containers[0].resources.limits.memory", "memory limit"),
        ("NODE_OPTIONS=--max-old-space-size=4096", "max-old-space-size"),
        ("container_memory_working_set_bytes", "working set"),
        ("registry.example.org:5000/team/api:1.4.2", "api:1.4.2"),
        ("SHA-256", "sha256"),
    ],
)
def test_what_people_type_meets_what_is_written(stored: str, asked: str) -> None:
    assert set(analyse(asked)) & set(analyse(stored))


def test_a_long_line_without_spaces_gives_its_parts_but_not_itself() -> None:
    line = "-".join(f"part{number}" for number in range(1000))
    assert analyse(line) == [f"part{number}" for number in range(1000)]
    assert analyse("x" * 300_000) == []


def test_each_term_knows_the_spelling_it_came_from() -> None:
    assert [token.spelling for token in tokens("Restarting OOMKilled pods")] == [
        "restarting",
        "oomkilled",
        "oom",
        "killed",
        "pods",
    ]


def test_stop_words_are_words_that_the_analyser_can_meet() -> None:
    assert {"the", "what", "is"} < STOP_WORDS
    assert not STOP_WORDS & {"up", "down", "off", "out", "kill"}
    assert all(word == word.lower() and word.isalpha() for word in STOP_WORDS)


@given(st.text())
def test_terms_are_never_empty_and_do_not_depend_on_what_came_before(text: str) -> None:
    terms = analyse(text)
    assert all(terms)
    assert analyse(text) == terms


@given(st.lists(st.text(alphabet="abcXYZ019_-./ é漢", max_size=12), max_size=5))
def test_white_space_separates_texts(texts: list[str]) -> None:
    assert analyse("\n".join(texts)) == [term for text in texts for term in analyse(text)]


def test_threads_get_the_terms_that_one_thread_gets() -> None:
    words = [f"restarting{'s' * (number % 7)} connection{chr(97 + number % 26)}ed" for number in range(2000)]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(analyse, words))
    assert together == [analyse(word) for word in words]
