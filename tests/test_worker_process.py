"""The life of the compile worker beside that of its parent, in programs of their own."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import jaxscope
from tests.test_worker import PATIENCE_S, has_ended, wait_for


def run_script(tmp_path, code, *, wait=True, **environment):
    """Runs a program that finds jaxscope through `sys.path` alone, in a folder of its own."""
    script = tmp_path / "program.py"
    prelude = f"""
        import os, sys
        sys.path.append({str(Path(jaxscope.__file__).parents[1])!r})
        import jax, numpy as np
        from jaxscope._jax_worker import compile_in_worker
        from jaxscope._worker import shared_worker
        from tests.test_worker import HOST, endless, lower
    """
    lines = (prelude + code).split("\n")
    script.write_text("\n".join(line[8:] if line.startswith(" " * 8) else line for line in lines))
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    process = subprocess.Popen(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env={**inherited, "JAX_PLATFORMS": "cpu", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    if not wait:
        return process
    try:
        output, errors = process.communicate(timeout=PATIENCE_S)
    finally:
        process.kill()
    assert process.returncode == 0, errors
    return output.split()


def test_it_runs_nothing_of_the_users(tmp_path):
    """Neither the unguarded program nor a module of the standard library's name beside the notebook."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "tempfile.py").write_text("import os; os.mkdir('ran')")
    code = """
        print("once")
        os.chdir("elsewhere")
        sys.path.insert(0, "")
        print(compile_in_worker(lower(), HOST).seconds > 0)
    """
    assert run_script(tmp_path, code) == ["once", "True"]
    assert not (tmp_path / "elsewhere" / "ran").exists()


def test_it_ends_with_its_parent(tmp_path):
    (pid,) = run_script(tmp_path, "\n        compile_in_worker(lower(), HOST); print(shared_worker().pid)")
    wait_for(lambda: has_ended(int(pid)))


@pytest.mark.parametrize("forked", [False, True], ids=["alone", "with a forked process that lives on"])
def test_it_ends_with_a_parent_that_is_killed_while_it_compiles(tmp_path, forked):
    code = f"""
        import threading, time, warnings
        warnings.simplefilter("ignore")
        threading.Thread(target=lambda: compile_in_worker(lower(endless, (8,)), HOST), daemon=True).start()
        while not (shared_worker()._log and os.fstat(shared_worker()._log.fileno()).st_size):
            time.sleep(0.05)
        other = 0
        if {forked}:
            # As the fork of a library that knows nothing of ours: the channel stays open.
            import subprocess
            channel = shared_worker()._channel.fileno()
            other = subprocess.Popen(["sleep", "60"], pass_fds=[channel], stdout=-3, stderr=-3).pid
        print(shared_worker().pid, other, flush=True)
        time.sleep(60)
    """
    process = run_script(tmp_path, code, wait=False)
    pid, other = map(int, process.stdout.readline().split())
    assert not has_ended(pid)
    process.kill()
    process.communicate()
    wait_for(lambda: has_ended(pid))
    if forked:
        assert not has_ended(other)
        os.kill(other, signal.SIGKILL)


def test_a_forked_process_does_not_own_the_worker(tmp_path):
    code = """
        import warnings
        warnings.simplefilter("ignore")
        compile_in_worker(lower(), HOST)
        pid = shared_worker().pid
        child = os.fork()
        if not child:
            os._exit(0 if shared_worker().pid is None and not shared_worker()._turn.locked() else 1)
        print(os.waitpid(child, 0)[1], shared_worker().pid == pid)
        print(compile_in_worker(lower(), HOST).seconds > 0, shared_worker().pid == pid)
    """
    assert run_script(tmp_path, code) == ["0", "True", "True", "True"]


def test_the_cache_on_disk_is_neither_read_nor_written_nor_switched_off(tmp_path):
    code = """
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
        count = lambda: len(list(os.scandir("cache"))) if os.path.isdir("cache") else 0
        lowered = lower()
        print(compile_in_worker(lowered, HOST).seconds > 0, count())
        lowered.compile()
        print(count() > 0)
        print(compile_in_worker(lower(), HOST).seconds > 0)
    """
    cache = str(tmp_path / "cache")
    assert run_script(tmp_path, code, JAX_COMPILATION_CACHE_DIR=cache) == ["True", "0", "True", "True"]
