"""The server of the page to label on: who may use it, and for what."""

from __future__ import annotations

import http.client
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_judgesense.questions.label.label_sample import drawn_at_random
from pytest_judgesense.questions.label.loopback import LabelServer
from pytest_judgesense.questions.label.sitting import Sitting
from pytest_judgesense.suites.people import read_people
from tests.questions.label.labelling import asked, rows_of_pairs
from tests.suites.files import PAIRWISE, write_suite
from tests.suites.known import load_suite

FIRST = {"place": 0, "values": {"": "A"}, "note": ""}


@pytest.fixture
def sitting(tmp_path: Path) -> Sitting:
    suite = load_suite(write_suite(tmp_path, PAIRWISE, rows_of_pairs(3)))
    return Sitting(suite, "anna", drawn_at_random(suite, 0), 0)


@pytest.fixture
def server(sitting: Sitting) -> Iterator[LabelServer]:
    with LabelServer(sitting) as server:
        thread = threading.Thread(target=server.serve)
        thread.start()
        yield server
        server.ended.set()
        thread.join(10)
        assert not thread.is_alive()


def test_the_page_loads_nothing_from_elsewhere_and_nobody_may_frame_or_keep_it(
    server: LabelServer,
) -> None:
    with urllib.request.urlopen(server.url, timeout=10) as response:
        page, headers = response.read().decode(), response.headers
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    policy = headers["Content-Security-Policy"].split("; ")
    assert policy[:6] == [
        "default-src 'none'",
        "connect-src 'self'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
    assert [rule.split("'sha256-")[0] for rule in policy[6:]] == ["style-src ", "script-src "]
    # What is known of the sitting comes by a request of its own.
    assert "http://" not in page
    assert "https://" not in page
    assert server.token not in page


def test_answers_are_in_the_file_before_the_next_item_is_shown(
    server: LabelServer, sitting: Sitting
) -> None:
    status, state = asked(f"{server.url}answer", FIRST)
    assert (status, state["place"]) == (200, 1)
    assert len(read_people(sitting.path)) == 1
    status, state = asked(f"{server.url}undo", {"place": 0})
    assert (status, state["place"]) == (200, 0)
    assert [line.label for line in read_people(sitting.path)][1:] == [""]


def test_of_two_pages_one_answers(server: LabelServer, sitting: Sitting) -> None:
    answers = [asked(f"{server.url}answer", FIRST) for _ in range(2)]
    # Both go on with the next item.
    assert [(status, state["place"]) for status, state in answers] == [(200, 1), (409, 1)]
    assert len(read_people(sitting.path)) == 1
    statuses: list[int] = []
    body = {**FIRST, "place": 1}
    threads = [
        threading.Thread(target=lambda: statuses.append(asked(f"{server.url}answer", body)[0]))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(statuses) == [200, *[409] * 7]
    assert len(read_people(sitting.path)) == 2


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "localhost"},
        {"Host": "127.0.0.1"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Content-Type": "text/plain"},
    ],
)
def test_what_another_page_sends_is_forbidden(
    server: LabelServer, sitting: Sitting, headers: dict[str, str]
) -> None:
    assert asked(f"{server.url}answer", FIRST, headers)[0] == 403
    assert read_people(sitting.path) == ()


def test_who_does_not_know_the_address_sees_nothing(server: LabelServer, sitting: Sitting) -> None:
    wrong = server.token[:-1] + ("A" if server.token[-1] != "A" else "B")
    for path in ("", "state", wrong, f"{wrong}/", f"{wrong}/state", f"x/{server.token}/state"):
        assert asked(f"{server.origin}/{path}")[0] == 403, path
        assert asked(f"{server.origin}/{path}", FIRST)[0] == 403, path
    # A name of somebody else's that leads here.
    for path in ("", "state"):
        assert asked(f"{server.url}{path}", headers={"Host": "evil.example:80"})[0] == 403
    assert read_people(sitting.path) == ()


def test_a_request_without_an_origin_is_no_page_of_a_browser(server: LabelServer) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=10)
    headers = {"Content-Type": "application/json"}
    connection.request("POST", f"/{server.token}/answer", b"{}", headers)
    assert connection.getresponse().status == 403
    connection.close()


@pytest.mark.parametrize(
    ("action", "body", "status"),
    [
        ("answer", b"{", 400),
        ("answer", b"[" * 1000, 400),
        ("answer", [1], 400),
        ("answer", {"place": "0", "values": {"": "A"}, "note": ""}, 400),
        ("answer", {**FIRST, "values": {"": "C"}}, 400),
        ("answer", {**FIRST, "values": {"": ["A"]}}, 400),
        ("answer", {**FIRST, "values": {}}, 400),
        ("answer", {**FIRST, "place": 7}, 409),
        ("answer", {**FIRST, "place": -1}, 409),
        ("answer", {**FIRST, "note": "x" * 4001}, 400),
        ("undo", {"place": 0}, 409),
        ("other", {}, 400),
    ],
)
def test_what_the_page_does_not_send_is_refused(
    server: LabelServer, sitting: Sitting, action: str, body: object, status: int
) -> None:
    assert asked(f"{server.url}{action}", body)[0] == status
    assert read_people(sitting.path) == ()
    assert asked(f"{server.url}nothing")[0] == 404


@pytest.mark.parametrize(
    ("length", "status"), [(None, 411), ("-1", 411), ("x", 411), ("65537", 413), ("9" * 5000, 413)]
)
def test_a_body_has_a_length_and_not_more(
    server: LabelServer, length: str | None, status: int
) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=10)
    connection.putrequest("POST", f"/{server.token}/answer")
    if length is not None:
        connection.putheader("Content-Length", length)
    connection.endheaders()
    assert connection.getresponse().status == status
    connection.close()


def test_a_file_that_somebody_has_broken_is_told_and_left_alone(
    server: LabelServer, sitting: Sitting
) -> None:
    sitting.path.write_text("item,person\n1,2\n")
    for status, reply in (asked(f"{server.url}state"), asked(f"{server.url}answer", FIRST)):
        assert status == 500
        assert "people.csv:1 is not a line of people's labels" in reply["problem"]
    assert sitting.path.read_text() == "item,person\n1,2\n"


def test_it_ends_when_the_person_is_done(sitting: Sitting) -> None:
    with LabelServer(sitting) as server:
        done: list[bool] = []
        thread = threading.Thread(target=lambda: done.append(server.serve()))
        thread.start()
        status, state = asked(f"{server.url}finish", {})
        assert (status, state["counts"]["left"]) == (200, 3)
        thread.join(10)
        assert done == [True]


def test_it_ends_when_nobody_asks_for_too_long(sitting: Sitting) -> None:
    with LabelServer(sitting, idle_s=0.3) as server:
        assert not server.serve()
