"""The server as pages meet it: real processes, a real socket, and everything that must be refused."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

import tightrope as tr
from tightrope.cli.app import run as command_line
from tightrope.explore import server
from tightrope.explore.guard import QUESTION_BYTES
from tightrope.listening import listening_at

pytestmark = pytest.mark.clock
SGD = "Gaussian(sigma=1).poisson(rate=0.01) * 1000"
# Takes its ten seconds, whatever the machine.
HARD = "training(records=60000, batch=256, epochs=15, sigma=0.3, sampling='allocated').group(size=3)"
TOKEN = "a-token_of-ours"


class Open:
    """An explorer that runs, and how pages ask it."""

    def __init__(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "tightrope", "explore", "--no-browser", "--token", TOKEN, *arguments]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        found = re.match(r"http://127\.0\.0\.1:(\d+)/\?token=([\w-]+)", self.address)
        assert found, self.address
        self.port = int(found[1])

    def request(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> tuple[int, bytes, dict[str, str]]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        told = {"x-tightrope-token": TOKEN, **{name.replace("_", "-"): value for name, value in headers.items()}}
        connection.request(method, path, body, told)
        reply = connection.getresponse()
        found = reply.status, reply.read(), {name.lower(): value for name, value in reply.getheaders()}
        connection.close()
        return found

    def ask(self, question: dict[str, Any], client: str = "me", spot: str = "x", **headers: str) -> dict[str, Any]:
        body = json.dumps({"client": client, "spot": spot, "question": question}).encode()
        status, content, _ = self.request("POST", "/api/ask", body, **headers)
        assert status == 200, content
        found: dict[str, Any] = json.loads(content)
        return found

    def close(self) -> int:
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(30)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code


@pytest.fixture(scope="module")
def explorer() -> Iterator[Open]:
    opened = Open(SGD, "Gaussian(sigma=?)")
    yield opened
    if opened.process.poll() is None:
        opened.close()


def test_the_address_says_what_was_asked_for(explorer: Open) -> None:
    assert explorer.address.endswith(
        "#run=Gaussian%28sigma%3D1%29.poisson%28rate%3D0.01%29+%2A+1000&run=Gaussian%28sigma%3D%3F%29"
    )


@pytest.mark.parametrize("stage", ["first", "fine"])
def test_it_answers_what_the_mechanism_says(explorer: Open, stage: str) -> None:
    found = explorer.ask({"kind": "epsilon", "text": SGD, "delta": "1e-5", "stage": stage})
    exact = tr.parse(SGD).epsilon(1e-5, proof=True)
    assert found["low"] <= exact.upper
    assert found["high"] >= exact.lower


def test_the_page_and_its_parts_are_there_and_nothing_else(explorer: Open) -> None:
    status, page, headers = explorer.request("GET", f"/?token={TOKEN}", x_tightrope_token="")
    assert status == 200
    assert headers["content-type"].startswith("text/html")
    for name in re.findall(rb'(?:src|href)="(/page/[^"]+)"', page):
        assert explorer.request("GET", name.decode())[0] == 200, name
    for path in ("/page/../app.py", "/page/%2e%2e/app.py", "/page/", "/page//etc/passwd", "/app.py", "/api/other"):
        assert explorer.request("GET", path)[0] == 404, path


def test_what_the_page_loads_is_its_own(explorer: Open) -> None:
    """No address of anywhere else stands in the page or in any module of ours."""
    from importlib.resources import files

    waiting = [files("tightrope.explore") / "page"]
    seen = 0
    for each in waiting:
        if each.is_dir():
            waiting += list(each.iterdir())
        elif each.name.endswith((".js", ".html", ".css")) and "uPlot" not in each.name:
            text = each.read_text("utf-8")
            found = set(re.findall(r"(?:https?:)?//[\w.-]+\.\w{2,}", text)) - {"http://www.w3.org"}
            assert not found, (each.name, found)
            seen += 1
    assert seen > 20


def test_every_answer_says_that_nothing_else_may_run(explorer: Open) -> None:
    for path in ("/", "/page/main.js", "/api/alive", "/nowhere"):
        _, _, headers = explorer.request("GET", path)
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "*" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"
        assert "server" not in headers


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1"}, 421),
        ({"Host": "127.0.0.1.evil.example:80"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"x-tightrope-token": ""}, 403),
        ({"x-tightrope-token": TOKEN[:-1]}, 403),
        ({"x-tightrope-token": TOKEN + "x"}, 403),
    ],
    ids=str,
)
@pytest.mark.parametrize("path", ["/api/alive", "/api/ask", "/"])
def test_others_are_refused(explorer: Open, headers: dict[str, str], status: int, path: str) -> None:
    method, body = ("POST", b"{}") if path == "/api/ask" else ("GET", None)
    found, text, _ = explorer.request(method, path, body, **headers)
    assert found == status
    assert text.count(b"\n") == 1


def test_its_own_page_is_not(explorer: Open) -> None:
    own = f"http://127.0.0.1:{explorer.port}"
    assert explorer.request("GET", "/api/alive", Origin=own, Sec_Fetch_Site="same-origin")[0] == 200
    local = f"localhost:{explorer.port}"
    assert explorer.request("GET", "/api/alive", Host=local, Origin=f"http://{local}")[0] == 200


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"7",
        b'{"client": "a", "spot": "b"}',
        b'{"client": "", "spot": "b", "question": {}}',
        b'{"client": "a", "spot": 7, "question": {}}',
        b'{"client": "a", "spot": "b", "question": []}',
        b'{"client": "' + b"a" * 65 + b'", "spot": "b", "question": {}}',
        b"\xff\xfe",
        b"[" * 60000,
    ],
    ids=lambda body: body[:30].decode("latin-1"),
)
def test_what_is_no_question_is_refused(explorer: Open, body: bytes) -> None:
    status, text, _ = explorer.request("POST", "/api/ask", body)
    assert status == 400
    assert text.count(b"\n") == 1


def test_a_body_has_a_limit_whatever_its_header_says(explorer: Open) -> None:
    assert explorer.request("POST", "/api/ask", b"x" * (QUESTION_BYTES + 1))[0] == 413
    with socket.create_connection(("127.0.0.1", explorer.port), timeout=30) as raw:
        head = f"POST /api/ask HTTP/1.1\r\nHost: 127.0.0.1:{explorer.port}\r\nx-tightrope-token: {TOKEN}\r\n"
        raw.sendall((head + "Transfer-Encoding: chunked\r\n\r\n").encode())
        for _ in range(QUESTION_BYTES // 4096 + 2):
            raw.sendall(b"1000\r\n" + b"x" * 4096 + b"\r\n")
        raw.sendall(b"0\r\n\r\n")
        assert b" 413 " in raw.recv(4096)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 9000,
        "Gaussian(sigma=1) + " * 400 + "Gaussian(sigma=1)",
        "9" * 9000,
        "Gaussian(sigma=1) * 9**9**9**9",
        "\0" * 99,
    ],
    ids=lambda text: text[:25],
)
def test_hostile_texts_cost_an_error_line_or_nothing(explorer: Open, text: str) -> None:
    found = explorer.ask({"kind": "epsilon", "text": text, "delta": 1e-5, "stage": "first"})
    assert "low" in found or "\n" not in found["error"]
    assert "low" in explorer.ask({"kind": "epsilon", "text": SGD, "delta": 1e-5, "stage": "first"})


def test_a_hard_question_stands_before_nobody(explorer: Open) -> None:
    """While it is answered, another page gets first pictures and fine ones; a newer question ends it."""
    found: list[dict[str, Any]] = []
    hard = {"kind": "epsilon", "text": HARD, "delta": 1e-9}
    asking = threading.Thread(target=lambda: found.append(explorer.ask(hard, client="slow")))
    asking.start()
    time.sleep(0.3)
    for stage in ("first", "fine"):
        assert "low" in explorer.ask({"kind": "delta", "text": SGD, "epsilon": 1, "stage": stage}, client=stage)
    assert not found, "the hard question is not hard enough for this test"
    newer = explorer.ask({"kind": "epsilon", "text": "Gaussian(sigma=2)", "delta": 1e-5}, client="slow")
    assert "low" in newer
    asking.join(20)
    assert found == [{"superseded": True}]


def test_a_page_that_goes_away_takes_its_question_along(explorer: Open) -> None:
    body = json.dumps({"client": "gone", "spot": "x", "question": {"kind": "epsilon", "text": HARD, "delta": 1e-9}})
    for _ in range(6):  # more than there are processes
        with socket.create_connection(("127.0.0.1", explorer.port)) as raw:
            head = f"POST /api/ask HTTP/1.1\r\nHost: 127.0.0.1:{explorer.port}\r\nx-tightrope-token: {TOKEN}\r\n"
            raw.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
            time.sleep(0.1)
    began = time.monotonic()
    assert "low" in explorer.ask({"kind": "epsilon", "text": SGD, "delta": 1e-5}, client="next")
    assert time.monotonic() - began < 15.0  # six of them would take a minute


@pytest.mark.parametrize("stage", ["first", "fine"])
def test_malformed_questions_stop_nobody(explorer: Open, stage: str) -> None:
    for _ in range(8):  # more than there are processes
        assert "error" in explorer.ask({"kind": "document", "questions": 5, "stage": stage})
        assert "error" in explorer.ask({"kind": [], "stage": stage})
    assert "low" in explorer.ask({"kind": "epsilon", "text": SGD, "delta": 1e-5, "stage": stage})


def test_a_process_that_dies_costs_one_answer(explorer: Open) -> None:
    children = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(explorer.process.pid)], capture_output=True, text=True, check=True
    ).stdout.split()
    assert children
    for each in children:
        subprocess.run(["kill", "-9", each], check=True)
    found = [explorer.ask({"kind": "epsilon", "text": SGD, "delta": 1e-5, "stage": "first"}) for _ in range(4)]
    assert "low" in found[-1]


def test_ctrl_c_ends_it_and_its_processes() -> None:
    opened = Open()
    assert "low" in opened.ask({"kind": "epsilon", "text": SGD, "delta": 1e-5})
    children = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(opened.process.pid)], capture_output=True, text=True, check=True
    ).stdout.split()
    assert opened.close() == 0
    for _ in range(100):
        left = subprocess.run(["ps", "-o", "pid=", "-p", ",".join(children)], capture_output=True, text=True).stdout
        if not left.split():
            break
        time.sleep(0.1)
    assert not left.split()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["Gaussian(sigm=1)"], "did you mean sigma?"),
        (["Gaussian(sigma=1)"] * 9, "up to 8 runs"),
        (["--token", "short"], "a token has at least 8"),
        (["--token", "with space and ü"], "a token has at least 8"),
        (["--port", "70000"], "70000"),
        (["x" * 10001], "unknown mechanism"),
    ],
    ids=str,
)
def test_bad_input_takes_one_line(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line(["explore", "--no-browser", *arguments]) == 2
    told = capsys.readouterr()
    assert says in told.err
    assert told.err.count("\n") == 1
    assert not told.out


def test_a_port_that_is_taken_is_told(explorer: Open, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line(["explore", "--no-browser", "--port", str(explorer.port)]) == 2
    assert "0 for any that is free" in capsys.readouterr().err


def test_shared_links_are_read() -> None:
    assert server.state(["http://127.0.0.1:1234/?token=theirs#run=Gaussian%28sigma%3D1%29&view=risk"]) == (
        "#run=Gaussian%28sigma%3D1%29&view=risk"
    )
    assert server.state(["#run=x"]) == "#run=x"
    assert server.state([]) == ""
    assert server.shared_state("Gaussian(sigma=1)") is None


def test_only_this_machine_is_listened_to() -> None:
    with listening_at(server.ADDRESS, 0) as sock:
        assert sock.getsockname()[0] == "127.0.0.1"
