"""The server as pages meet it: real processes, a real socket, and everything that must be refused."""

from __future__ import annotations

import http.client
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import tightrope as tr
from tightrope.cli.app import run as command_line
from tightrope.explore import server
from tightrope.explore.guard import QUESTION_BYTES
from tightrope.listening import listening_at

SGD = "Gaussian(sigma=1).poisson(rate=0.01) * 1000"
# Takes all the work of ten seconds, whatever the machine.
HARD = "training(records=60000, batch=256, epochs=15, sigma=0.3, sampling='allocated').group(size=3)"
MOST_OF_SIX = 24.0  # seconds of work: less than half of what six of them would take
TOKEN = "a-token_of-ours"
HANG = 600.0  # seconds, to end what hangs
linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


class Open:
    """An explorer that runs, and how pages ask it."""

    def __init__(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "tightrope", "explore", "--no-browser", "--token", TOKEN, *arguments]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        found = re.match(r"http://127\.0\.0\.1:(\d+)/\?token=([\w-]+)", self.address)
        if not found:
            self.kill()
        assert found, self.address
        self.port = int(found[1])

    def children(self) -> list[int]:
        """Its processes."""
        tasks = Path(f"/proc/{self.process.pid}/task").iterdir()
        return [int(each) for task in tasks for each in (task / "children").read_text().split()]

    def worked(self) -> float:
        """Seconds of a core that its processes have used, those that ended too."""
        ticks = sum(stat_of(self.process.pid)[12:14])  # of those that ended
        for each in self.children():
            with suppress(OSError):  # it ended meanwhile, and counts above the next time
                ticks += sum(stat_of(each)[10:12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def wait_for_work(self, seconds: float) -> None:
        """Until its processes have worked so much more."""
        until = self.worked() + seconds
        while self.worked() < until:
            time.sleep(0.01)

    def request(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> tuple[int, bytes, dict[str, str]]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=HANG)
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
        """As Ctrl-C does."""
        try:
            self.process.send_signal(signal.SIGINT)
            return self.process.wait(HANG)
        finally:
            self.kill()

    def kill(self) -> None:
        """Nothing is left, whatever happened: its processes end when it does."""
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


def stat_of(process: int) -> list[int]:
    """Numbers of a process from field 4 of proc(5) on: its own times are fields 14 and 15, its children's 16 and 17."""
    _, _, behind = Path(f"/proc/{process}/stat").read_text().rpartition(")")
    return [int(each) for each in behind.split()[1:]]


@pytest.fixture(scope="module")
def explorer() -> Iterator[Open]:
    opened = Open(SGD, "Gaussian(sigma=?)")
    try:
        yield opened
    finally:
        opened.kill()


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
    with socket.create_connection(("127.0.0.1", explorer.port), timeout=HANG) as raw:
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


@linux
def test_a_hard_question_stands_before_nobody(explorer: Open) -> None:
    """While it is answered, another page gets first pictures and fine ones; a newer question ends it."""
    found: list[dict[str, Any]] = []
    hard = {"kind": "epsilon", "text": HARD, "delta": 1e-9}
    asking = threading.Thread(target=lambda: found.append(explorer.ask(hard, client="slow")))
    asking.start()
    explorer.wait_for_work(0.1)
    for stage in ("first", "fine"):
        assert "low" in explorer.ask({"kind": "delta", "text": SGD, "epsilon": 1, "stage": stage}, client=stage)
    assert not found, "the hard question is not hard enough for this test"
    newer = explorer.ask({"kind": "epsilon", "text": "Gaussian(sigma=2)", "delta": 1e-5}, client="slow")
    assert "low" in newer
    asking.join(HANG)
    assert found == [{"superseded": True}]


@linux
def test_a_page_that_goes_away_takes_its_question_along(explorer: Open) -> None:
    body = json.dumps({"client": "gone", "spot": "x", "question": {"kind": "epsilon", "text": HARD, "delta": 1e-9}})
    before = explorer.worked()
    for _ in range(6):  # more than there are processes
        with socket.create_connection(("127.0.0.1", explorer.port)) as raw:
            head = f"POST /api/ask HTTP/1.1\r\nHost: 127.0.0.1:{explorer.port}\r\nx-tightrope-token: {TOKEN}\r\n"
            raw.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
            explorer.wait_for_work(0.1)
    assert "low" in explorer.ask({"kind": "epsilon", "text": SGD, "delta": 1e-5}, client="next")
    assert explorer.worked() - before < MOST_OF_SIX  # each process that is started anew works for a second or two


@pytest.mark.parametrize("stage", ["first", "fine"])
def test_malformed_questions_stop_nobody(explorer: Open, stage: str) -> None:
    for _ in range(8):  # more than there are processes
        assert "error" in explorer.ask({"kind": "document", "questions": 5, "stage": stage})
        assert "error" in explorer.ask({"kind": [], "stage": stage})
    assert "low" in explorer.ask({"kind": "epsilon", "text": SGD, "delta": 1e-5, "stage": stage})


@linux
def test_a_process_that_dies_costs_one_answer(explorer: Open) -> None:
    children = explorer.children()
    assert children
    for each in children:
        os.kill(each, signal.SIGKILL)
    found = [explorer.ask({"kind": "epsilon", "text": SGD, "delta": 1e-5, "stage": "first"}) for _ in range(4)]
    assert "low" in found[-1]


@linux
def test_ctrl_c_ends_it_and_its_processes() -> None:
    opened = Open()
    try:
        assert "low" in opened.ask({"kind": "epsilon", "text": SGD, "delta": 1e-5})
        watched = [os.pidfd_open(each) for each in opened.children()]
        assert watched
        assert opened.close() == 0
        for each in watched:
            assert select.select([each], [], [], HANG)[0], "it is still there"  # readable when the process is gone
            os.close(each)
    finally:
        opened.kill()


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
