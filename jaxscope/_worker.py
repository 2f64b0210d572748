"""A process beside the kernel in which compilers run that might take their process with them.

Problem: a compiler for hardware that is not here can abort, run for hours, or write to file descriptor 2, and a thread
inside it cannot be interrupted. Input: `Message` requests. Output: the worker's answers, or a `CompilerError` that says
how it ended, with the last lines of its log. The worker is started at most once at a time, is used again, and ends with
the kernel. It never imports the user's ``__main__``, and its environment is its own.
"""

import atexit
import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from jaxscope._worker_messages import Message, receive, send
from jaxscope.errors import CompilerError

DEFAULT_TIME_LIMIT_S = 15 * 60.0

# What holds in the worker only. Unless told not to, libtpu asks a metadata server for its machine, keeps log files, and
# lets one process of the machine load it; the worker must take no attached accelerator from the kernel.
_ENVIRONMENT = {
    "JAX_PLATFORMS": "cpu",
    "TPU_SKIP_MDS_QUERY": "1",
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
    "TPU_LOG_DIR": "disabled",
    "TF_CPP_MIN_LOG_LEVEL": "1",
}
_TURN_POLL_S = 0.05
_END_WAIT_S = 5.0
_EXIT_WAIT_S = 0.5
_LOG_LINES = 20
_LINES_BEFORE_FATAL = 6
_LOG_READ_BYTES = 1 << 20
# "F0000 00:00:1764463523.123456   12345 shape_util.cc:123] Check failed: ...", "*** SIGABRT received at time=..."
_FATAL_LINE = re.compile(r"^(?:F\d{4} |.*Check failed|Fatal Python error|\*\*\* SIG)")
# "https://symbolize.stripped_domain/r/?trace=7f9de3f1f829,7f9de3e5a04f&map=": an address that leads nowhere
_NOISE = re.compile(r"^https://symbolize\.")


class Cancelled(Exception):
    """A job was ended by `Job.cancel`; for the thread that waits for it, and for nobody else."""


class Job:
    """One request on its way, which any thread can end."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self.is_cancelled = False

    def cancel(self) -> None:
        """Ends the request: at once by ending the worker if it is being served, else before it begins."""
        with self._lock:
            self.is_cancelled = True
            if self._process is not None:
                self._process.kill()

    def _begin(self, process: subprocess.Popen[bytes]) -> None:
        with self._lock:
            if self.is_cancelled:
                raise Cancelled
            self._process = process

    def _end(self) -> None:
        with self._lock:
            self._process = None


class Worker:
    """The worker process as its parent sees it; serves one request at a time, from any thread."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None
        self._log: IO[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The process id of the running worker; None when none runs."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    def prepare(self, message: Message) -> None:
        """Starts the process if need be and gives it a message without an answer; returns at once.

        Whatever goes wrong here goes wrong again in `call`, where it can be told.
        """
        if not self._turn.acquire(blocking=False):
            return  # It is at work, so there is nothing to prepare.
        try:
            with contextlib.suppress(OSError):
                self._start()
                send(self._channel, message, time.monotonic() + _END_WAIT_S)
        finally:
            self._turn.release()

    def call(self, message: Message, job: Job, time_limit_s: float | None = DEFAULT_TIME_LIMIT_S) -> Message:
        """Sends a request and waits for its answer.

        Args:
            message: The request.
            job: What another thread can end the request by.
            time_limit_s: The longest it may take once its turn has come; None for no limit.

        Raises:
            CompilerError: The process could not be started, ended without an answer, or took too long.
            Cancelled: `job` was cancelled.
        """
        with self._next_turn(job):
            try:
                self._start()
            except OSError as error:
                raise CompilerError(
                    f"Starting a process to compile in: {sys.executable or 'no interpreter'} gave "
                    f"{type(error).__name__}: {error}. Check that sys.executable names this Python."
                ) from error
            process, channel = self._process, self._channel
            deadline = None if time_limit_s is None else time.monotonic() + time_limit_s
            job._begin(process)
            try:
                send(channel, message, deadline)
                if (answer := receive(channel, deadline)) is not None:
                    return answer
            except TimeoutError:
                process.kill()
                self._stop()
                raise CompilerError(
                    f"Compiling in a process of its own: it was ended after its time limit of {time_limit_s:g} s. "
                    "Pass a larger time_limit_s, or None for no limit."
                ) from None
            except (OSError, EOFError, ValueError):
                pass  # The ways in which a channel ends; how the process ended says why.
            except BaseException:  # An interrupt in this very thread: an answer that comes later is nobody's.
                process.kill()
                self._stop()
                raise
            finally:
                job._end()
                if job.is_cancelled:
                    self._stop()  # It is ending, which a look at it may not show yet.
            if job.is_cancelled:
                raise Cancelled
            raise CompilerError(self._account_of_death())

    def close(self, wait_s: float = _END_WAIT_S) -> None:
        """Ends the process, at work or not."""
        process = self._process
        if process is not None:
            process.kill()
        if self._turn.acquire(timeout=wait_s):
            try:
                self._stop()
            finally:
                self._turn.release()

    def forget(self) -> None:
        """Lets go of the process without ending it: it belongs to the process that this one was forked from."""
        if self._process is not None:
            self._process.returncode = 0  # Not this process's child: nothing to wait for.
        if self._channel is not None:
            self._channel.close()
        self.__init__()

    @contextlib.contextmanager
    def _next_turn(self, job: Job) -> Iterator[None]:
        while not self._turn.acquire(timeout=_TURN_POLL_S):
            if job.is_cancelled:
                raise Cancelled
        try:
            yield
        finally:
            self._turn.release()

    def _start(self) -> None:
        if self._process is not None and self._process.poll() is None:
            _empty(self._log)
            return
        self._stop()
        if not sys.executable:
            raise FileNotFoundError("sys.executable is empty")
        import fcntl  # Not on Windows, where no compiler plugin is either.

        # Without a name, so that nothing remains of it; appended to, so that it can be emptied while it is written to.
        log = tempfile.TemporaryFile()  # noqa: SIM115
        fcntl.fcntl(log, fcntl.F_SETFL, fcntl.fcntl(log, fcntl.F_GETFL) | os.O_APPEND)
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                self._process = subprocess.Popen(
                    # -P keeps the folder that the notebook stands in off the path: what lies there is the user's.
                    [sys.executable, "-P", "-m", "jaxscope._worker_main", str(theirs.fileno()), str(os.getpid())],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    pass_fds=(theirs.fileno(),),
                    env={**os.environ, **_ENVIRONMENT, "PYTHONPATH": os.pathsep.join(_path())},
                    # Ctrl-C in a terminal and a notebook's interrupt go to the whole process group.
                    start_new_session=True,
                )
            except OSError:
                ours.close()
                log.close()
                raise
        self._channel, self._log = ours, log

    def _stop(self) -> None:
        """Closes what belongs to a process that is gone, or is to go."""
        process, self._process = self._process, None
        for resource in (self._channel, self._log):
            if resource is not None:
                resource.close()
        self._channel = self._log = None
        if process is not None:
            try:
                process.wait(_EXIT_WAIT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _account_of_death(self) -> str:
        try:
            code = self._process.wait(_END_WAIT_S)
        except subprocess.TimeoutExpired:
            code = None
        tail = last_words(_read_log(self._log))
        self._stop()
        if code is None:
            how = "it closed its channel and went on"
        elif code < 0:
            how = f"it was ended by {_signal_name(-code)}"
        else:
            how = f"it ended with exit status {code}"
        said = f"The last lines of its log:\n{tail}" if tail else "It left no log."
        advice = {
            signal.SIGKILL: "Something ended it, often the system for want of memory: free some, or try a smaller one.",
        }.get(-(code or 0), "This is the compiler's own failure: change the program or its compiler options.")
        return f"Compiling in a process of its own: {how} before there was a result. {advice} {said}"


_WORKER = Worker()


def shared_worker() -> Worker:
    """The one worker of this process."""
    return _WORKER


def last_words(log: str) -> str:
    """The lines of a log that tell most: those about the first fatal one, else the last ones.

    A fatal line is followed by the stack, which is long, and what led to it stands before it.
    """
    lines = [line for line in log.splitlines() if line.strip() and not _NOISE.match(line)]
    fatal = next((number for number, line in enumerate(lines) if _FATAL_LINE.match(line)), None)
    first = len(lines) - _LOG_LINES if fatal is None else fatal - _LINES_BEFORE_FATAL
    return "\n".join(lines[max(first, 0) :][:_LOG_LINES])


def _path() -> list[str]:
    """Where this process finds its modules, without the current folder; jaxscope itself is always found."""
    return [*(entry for entry in sys.path if Path(entry).is_absolute()), str(Path(__file__).parents[1])]


def _read_log(log: IO[bytes]) -> str:
    size = os.fstat(log.fileno()).st_size
    return os.pread(log.fileno(), _LOG_READ_BYTES, max(size - _LOG_READ_BYTES, 0)).decode(errors="replace")


def _empty(log: IO[bytes]) -> None:
    with contextlib.suppress(OSError):
        os.ftruncate(log.fileno(), 0)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_WORKER.forget)
atexit.register(_WORKER.close, _EXIT_WAIT_S)
