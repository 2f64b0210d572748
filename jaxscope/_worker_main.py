"""The worker process: compiles what it is sent until its parent closes the channel or is gone.

Problem: a worker must not outlive its kernel, not even one that was killed while this one compiles, and must not say a
word on the kernel's console. Input: ``python -m jaxscope._worker_main CHANNEL PARENT``: the number of a socket's file
descriptor and the parent's process id. Output: one answer per request on the channel; all else goes to the log that the
parent made file descriptors 1 and 2 of.
"""

import os
import select
import socket
import sys
import threading
from typing import NoReturn

from jaxscope._worker_messages import Message, receive, send

_WATCH_S = 0.5


def main(arguments: list[str]) -> None:
    """Serves requests until there are no more."""
    channel = socket.socket(fileno=int(arguments[0]))
    channel.set_inheritable(False)  # Compilers start processes of their own (ptxas).
    threading.Thread(target=_end_with_parent, args=(channel, int(arguments[1])), daemon=True).start()

    from jaxscope import _jax_worker  # JAX takes a second or two to load, and the parent may end meanwhile.

    while (message := receive(channel)) is not None:
        if message.header["do"] == "prepare":
            _jax_worker.prepare(message)
            continue
        try:
            answer = _jax_worker.answer(message)
        except Exception as error:  # Carried to the parent, whatever it is.
            answer = Message({"error": [type(error).__name__, str(error)]})
        send(channel, answer)


def _end_with_parent(channel: socket.socket, parent: int) -> NoReturn:
    """Ends the process as soon as the parent has closed its end of the channel or is gone.

    Both are looked at, because a process that the parent forked holds the channel open. Linux can send a signal instead
    (PR_SET_PDEATHSIG), but does so when the thread that started this process ends.
    """
    poll = select.poll()
    poll.register(channel.fileno(), select.POLLHUP)
    while os.getppid() == parent and not any(event & select.POLLHUP for _, event in poll.poll(_WATCH_S * 1000)):
        pass
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
    os._exit(0)  # Nothing is left to save, and plugins may abort when they are torn down.
