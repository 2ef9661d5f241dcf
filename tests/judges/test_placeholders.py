"""A replay needs no key: usual ones are stood in for, in replayed trials and nowhere else."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from pytest_judgesense.cassettes.credentials import placeholder_for, variable_in
from pytest_judgesense.cassettes.scope import CallScope, entered
from pytest_judgesense.errors import UsageError, unset_variable
from pytest_judgesense.judges.judge_table import judge_from_table
from pytest_judgesense.judges.placeholders import placeholder_credentials
from pytest_judgesense.judges.resolving import function_of

NAME = "OPENAI_API_KEY"


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(NAME, raising=False)


def replayed() -> CallScope:
    return CallScope("s/i/t/ab/r1", None, replaying=True)


def test_a_replayed_trial_reads_a_placeholder_and_nobody_else_does() -> None:
    with placeholder_credentials("MY_KEY"):
        assert os.environ.get(NAME) is None
        with entered(replayed()):
            assert os.environ[NAME] == os.getenv(NAME) == placeholder_for(NAME)
            assert os.getenv("MY_KEY") == placeholder_for("MY_KEY")
            assert NAME in os.environ
            assert os.getenv("OTHER_KEY") is None
            # Nothing is written: child processes get the environment as it is.
            assert NAME not in dict(os.environ)
            elsewhere: list[str | None] = []
            thread = threading.Thread(target=lambda: elsewhere.append(os.getenv(NAME)))
            thread.start()
            thread.join()
            assert elsewhere == [None]
        with entered(CallScope("s/i/t/ab/r1", None)):  # one that is recorded
            assert os.getenv(NAME) is None
    with entered(replayed()):
        assert os.getenv(NAME) is None


def test_clients_that_are_closed_in_any_order_leave_the_environment_as_it_was() -> None:
    read = type(os.environ).__getitem__
    first, second = placeholder_credentials("FIRST_KEY"), placeholder_credentials("SECOND_KEY")
    with entered(replayed()):
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert os.getenv("SECOND_KEY") == placeholder_for("SECOND_KEY")
        assert os.getenv("FIRST_KEY") is None
        second.__exit__(None, None, None)
        assert os.getenv("SECOND_KEY") is None
    assert type(os.environ).__getitem__ is read


def test_a_variable_that_is_not_set_is_named_during_a_replay_too() -> None:
    with placeholder_credentials(), pytest.raises(KeyError) as caught:
        os.environ["NO_KEY_OF_TESTS"]
    assert unset_variable(caught.value) == "NO_KEY_OF_TESTS"


def test_a_recording_reads_one_where_all_of_a_trial_is_recorded() -> None:
    with placeholder_credentials():
        with entered(CallScope("s/i/t/ab/r1", None, of_function=True, settled=True)):
            assert os.getenv(NAME) == placeholder_for(NAME)
        # It is asked: a key is needed.
        with entered(CallScope("s/i/t/ab/r1", None, of_function=True, settled=True, anew=True)):
            assert os.getenv(NAME) is None


def test_a_placeholder_names_its_variable() -> None:
    sent = f"Bearer {placeholder_for('MY_2ND_KEY')}"
    assert variable_in(["application/json", sent]) == "MY_2ND_KEY"
    assert variable_in(["application/json", "Bearer sk-of-the-user"]) is None


def test_a_key_that_is_set_is_never_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, "sk-of-the-user")
    with placeholder_credentials(), entered(replayed()):
        assert os.environ[NAME] == "sk-of-the-user"
        monkeypatch.setenv(NAME, "")  # as CI sets a secret that a fork does not get
        assert os.environ[NAME] == placeholder_for(NAME)


def test_a_key_under_the_other_of_its_two_names_is_not_replaced_either(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """google-genai prefers GOOGLE_API_KEY: a placeholder there would hide the user's own key."""
    for name in ("GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with placeholder_credentials(), entered(replayed()):
        for name in ("GOOGLE_API_KEY", "GEMINI_API_KEY"):
            assert os.getenv(name) == placeholder_for(name)
        monkeypatch.setenv("GEMINI_API_KEY", "of-the-user")
        assert os.getenv("GOOGLE_API_KEY") is None
        assert os.getenv("GEMINI_API_KEY") == "of-the-user"


def test_keys_that_would_turn_a_client_elsewhere_are_not_stood_in_for() -> None:
    with placeholder_credentials(), entered(replayed()):
        for name in ("AZURE_OPENAI_API_KEY", "AWS_ACCESS_KEY_ID", "OPENAI_BASE_URL"):
            assert os.getenv(name) is None


def test_a_module_that_fails_for_its_key_is_one_error_of_four_lines(tmp_path: Path) -> None:
    (tmp_path / "failing_judge.py").write_text("import os\nos.environ['MY_COMPANY_KEY']\n")
    table = {"provider": "callable", "model": "failing_judge:judge"}
    with pytest.raises(UsageError, match="variable that is not set") as caught:
        function_of(judge_from_table("mine", table, tmp_path))
    assert "KeyError" in caught.value.found
    assert 'api_key_env = "MY_COMPANY_KEY"' in caught.value.remedy
    assert len(str(caught.value).splitlines()) == 4
