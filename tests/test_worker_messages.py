"""What travels between a process and its compile worker, and what is told of a log."""

import io
import socket
import threading
import time

import pytest

from jaxscope._worker import last_words
from jaxscope._worker_messages import Message, receive, send
from tests.test_worker import PATIENCE_S

# Messages and logs.


@pytest.mark.parametrize(
    "message",
    [
        Message({}),
        Message({"a": [1, None, "ü\ud800"], "b": {"c": b"\x00\xff"}, "d": float("inf")}, (b"", b"x" * 300_000)),
    ],
    ids=["empty", "full"],
)
def test_messages_arrive_as_they_were_sent(message):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        sender = threading.Thread(target=send, args=(ours, message))
        sender.start()
        assert receive(theirs, time.monotonic() + PATIENCE_S) == message
        sender.join()
        ours.close()
        assert receive(theirs) is None


def test_a_message_that_was_cut_is_no_message():
    buffer = io.BytesIO()
    whole = type("Channel", (), {"settimeout": lambda *_: None, "sendall": lambda _, data: buffer.write(data)})()
    send(whole, Message({"a": 1}, (b"data",)))
    for size in range(1, len(buffer.getvalue())):
        ours, theirs = socket.socketpair()
        with theirs:
            ours.sendall(buffer.getvalue()[:size])
            ours.close()
            with pytest.raises(EOFError):
                receive(theirs)


def test_an_absurd_length_is_refused():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(b"not a message of ours")
        with pytest.raises(OSError, match="a length of"):
            receive(theirs)


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ("", ""),
        ("one\n\ntwo\n", "one\ntwo"),
        ("\n".join(map(str, range(100))), "\n".join(map(str, range(80, 100)))),
        (
            "\n".join([*map(str, range(9)), "https://symbolize.x/r/", "F0000 00:00:1 1 a.cc:1] no", *"stack" * 9]),
            "\n".join([*map(str, range(3, 9)), "F0000 00:00:1 1 a.cc:1] no", *("stack" * 9)[:13]]),
        ),
    ],
    ids=["empty", "short", "long", "fatal"],
)
def test_the_last_words_tell_most(log, words):
    assert last_words(log) == words
