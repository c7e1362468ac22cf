from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agents.gateway.breaker import CircuitBreaker


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_failures_in_a_row_open_it_and_time_lets_one_try() -> None:
    clock = Clock()
    breaker = CircuitBreaker(failures=2, open_seconds=10, clock=clock)
    for _ in range(2):
        assert breaker.admit()
        breaker.failed()

    assert not breaker.admit()
    clock.now = 10
    assert breaker.admit()
    assert not breaker.admit(), "a second one waits for how the trial ends"
    breaker.succeeded()
    assert breaker.admit()


def test_failed_trial_opens_it_again() -> None:
    clock = Clock()
    breaker = CircuitBreaker(failures=1, open_seconds=10, clock=clock)
    breaker.admit()
    breaker.failed()
    clock.now = 10
    breaker.admit()
    breaker.failed()

    clock.now = 19.9
    assert not breaker.admit()
    clock.now = 20
    assert breaker.admit()


def test_trial_whose_caller_left_lets_the_next_one_try() -> None:
    clock = Clock()
    breaker = CircuitBreaker(failures=1, open_seconds=10, clock=clock)
    breaker.admit()
    breaker.failed()
    clock.now = 10
    breaker.admit()
    breaker.abandoned()

    assert breaker.admit()


@given(st.lists(st.sampled_from(["fail", "succeed", "leave", "wait"]), max_size=40))
def test_nobody_is_held_back_for_ever(steps: list[str]) -> None:
    clock = Clock()
    breaker = CircuitBreaker(failures=3, open_seconds=10, clock=clock)
    for step in steps:
        if step == "wait":
            clock.now += 4
        elif breaker.admit():
            {"fail": breaker.failed, "succeed": breaker.succeeded, "leave": breaker.abandoned}[step]()

    clock.now += 10
    assert breaker.admit()
