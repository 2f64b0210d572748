"""Types inside programs and jit's cache, as users see them: in the Types tab, in checks and as frames."""

import functools
import gc
import html
import weakref

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxscope
from jaxscope._view import build, type_tables
from jaxscope.errors import UnavailableError

BF16, F32 = jax.ShapeDtypeStruct((8,), jnp.bfloat16), jax.ShapeDtypeStruct((8,), jnp.float32)
O8 = np.ones(8, np.float32)


def mixed(x, w):
    h = x * 2
    y = h * w
    return jnp.tanh(y)


def counted(traces):
    """A jitted function with a static argument, and the list that each of its traces is added to."""

    @functools.partial(jax.jit, static_argnums=1)
    def power(params, n, x):
        traces.append(n)
        return params["w"] * x**n

    return power


@pytest.fixture(autouse=True)
def strict(monkeypatch):
    """Nothing is contained unless a test says so."""
    monkeypatch.setattr(build, "CONTAIN_FAILURES", False)


def table_of(inspection, key, tab="types"):
    (found,) = [
        table
        for each in inspection._source.view["tabs"]
        if each["key"] == tab
        for table in each["tables"]
        if table["key"] == key
    ]
    return found


def keys_of(inspection):
    (tab,) = [tab for tab in inspection._source.view["tabs"] if tab["key"] == "types"]
    return [table["key"] for table in tab["tables"]]


def linked_line(inspection, row):
    return inspection._source.text(row["link"]["listing"]).split("\n")[row["link"]["line"]]


def test_a_promotion_is_told_at_its_line_with_the_operand_that_asked_for_it():
    inspection = jaxscope.inspect(mixed, BF16, F32)
    table = table_of(inspection, "type changes")
    (row,) = table["rows"]
    assert linked_line(inspection, row).strip() == "y = h * w"
    assert row["cells"][1:] == [
        "bf16[8]",
        "f32[8]",
        "promotion by f32[8] (argument w) in mul",
        "bf16[8] (result of mul)",
        "2 in f32",
        "16-bit float widened",
    ]
    assert row["tone"] == "warning" and table["tone"] == "warning"
    # JAX's own equations: those that give f32 behind the cast are the multiplication and tanh.
    equations = inspection.traced.jaxpr.jaxpr.eqns
    assert [str(equation.primitive) for equation in equations if equation.outvars[0].aval.dtype == jnp.float32] == [
        "convert_element_type",
        "mul",
        "tanh",
    ]
    frame = inspection.type_changes
    assert list(frame["python_line"]) == [mixed.__code__.co_firstlineno + 2] and list(frame["file"]) == [__file__]
    assert list(frame["downstream_ops"]) == [2]
    assert "promotion by f32[8] (argument w) in mul" in str(inspection)


def test_equations_without_results_are_stepped_over():
    def printing(x, w):
        jax.debug.print("{} {}", x.sum(), jnp.arange(3) * 2)
        return x * w

    inspection = jaxscope.inspect(printing, BF16, F32)
    assert list(inspection.type_changes["cause"]) == ["accumulation", "accumulation", "promotion"]


def test_python_numbers_that_jax_casts_are_no_concern():
    inspection = jaxscope.inspect(lambda x: jnp.var(x, axis=-1), F32)
    assert len(inspection.type_changes) and not any(inspection.type_changes["concerns"])


def test_a_program_without_changes_has_no_such_table():
    inspection = jaxscope.inspect(mixed, F32, F32)
    assert not {"type changes", "overflows", "cache"} & set(keys_of(inspection))
    assert not len(inspection.type_changes) and not len(inspection.integer_overflows)


# The suite turns warnings into errors, users do not.
@pytest.mark.filterwarnings("default:Explicitly requested dtype")
def test_what_64_bit_mode_would_have_given_is_told_each_time():
    def wide(x):
        return jnp.sum(x.astype("float64"))

    jitted = jax.jit(wide)
    # JAX keeps the trace and warns only once.
    for _ in range(2):
        inspection = jaxscope.inspect(jitted, F32)
        (row,) = table_of(inspection, "type changes")["rows"]
        assert row["cells"][1:4] == ["f64", "f32", "x64 truncation in astype"]
        assert "astype" in linked_line(inspection, row)
    assert any("float64" in text for text in jaxscope.inspect(wide, "i32[4]").stages["trace"].warnings)


def test_positions_that_do_not_fit_are_told():
    def positions():
        return jnp.arange(70000) * 70000

    inspection = jaxscope.inspect(positions)
    (row,) = table_of(inspection, "overflows")["rows"]
    assert row["cells"][1:] == ["mul", "i32[70000]", f"{69999 * 70000:,}", f"{2**31 - 1:,}"]
    assert "arange(70000) * 70000" in linked_line(inspection, row)
    assert (np.arange(70000, dtype=np.int64) * 70000 != np.asarray(positions())).any(), "it does overflow"
    assert list(inspection.integer_overflows["largest"]) == [69999 * 70000]


def test_long_tables_are_cut_and_keep_what_is_worth_a_look():
    def long(x, w, n):
        total = n.astype("float32")
        for _ in range(type_tables.MAXIMUM_ROWS + 20):
            total = total + (n + 1).astype("float32")
        return total, x * w

    inspection = jaxscope.inspect(long, BF16, F32, "i32[8]")
    table = table_of(inspection, "type changes")
    count = len(inspection.type_changes)
    assert len(table["rows"]) == type_tables.MAXIMUM_ROWS < count
    assert table["notes"] == [f"{count - type_tables.MAXIMUM_ROWS} more in inspection.type_changes."]
    assert [row["cells"][3] for row in table["rows"] if row["tone"]] == ["promotion by f32[8] (argument w) in mul"]


def test_a_failure_of_the_analysis_leaves_the_other_tables(monkeypatch):
    def break_down(*_):
        raise RecursionError("too deep")

    monkeypatch.setattr(build, "CONTAIN_FAILURES", True)
    monkeypatch.setattr("jaxscope._facts.type_flow", break_down)
    monkeypatch.setattr("jaxscope._facts.judge_call", break_down)
    inspection = jaxscope.inspect(mixed, BF16, F32, call=(BF16, F32))
    assert keys_of(inspection) == ["mismatches", "cache", "arguments", "outputs", "type changes"]
    assert "RecursionError: too deep" in table_of(inspection, "type changes")["empty"]
    assert "RecursionError: too deep" in table_of(inspection, "cache")["empty"]


def test_a_program_that_was_not_traced_has_no_flow_of_types():
    inspection = jaxscope.inspect(lambda x: x[x > 0], F32)
    assert keys_of(inspection) == ["arguments"]
    with pytest.raises(UnavailableError, match="it is failed"):
        _ = inspection.type_changes


# The call of the compiled function, without the static n; what jit then does, and because of what.
CALLS = {
    "the same": (({"w": O8}, O8), "hits", []),
    "narrowed": (({"w": O8.astype("float64")}, O8), "hits", []),
    "a leaf's type": (({"w": O8.astype("float16")}, O8), "traces again", ["params['w']"]),
    "a shape": (({"w": O8}, O8[:1]), "traces again", ["x"]),
    "a Python number": (({"w": O8}, 1.0), "traces again", ["x"]),
    "another key": (({"w": O8, "b": O8}, O8), "traces again", ["params['b']"]),
    "static given": (({"w": O8}, 2, O8), "hits", []),
    "another static": (({"w": O8}, 3, O8), "traces again", ["n"]),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_verdict_on_the_cache_is_what_jit_does(name):
    args, outcome, paths = CALLS[name]
    traces = []
    power = counted(traces)
    inspection = jaxscope.inspect(power, {"w": O8}, 2, O8, call=args)
    check = inspection.check(*args)
    assert check.cache.outcome == outcome and [row.path for row in check.cache.rows] == paths
    assert all(path in str(check) and html.escape(path) in check._repr_html_() for path in paths)
    assert check.cache.summary in str(check)
    assert list(check.cache_frame["path"]) == paths
    table = table_of(inspection, "cache")
    assert (table["summary"], [row["cells"][0] for row in table["rows"]]) == (check.cache.summary, paths)
    assert check.cache.summary in str(inspection)
    # And now jit itself, which has the program of the inspected call.
    power({"w": O8}, 2, O8)
    before = len(traces), power._cache_size()
    full = args if len(args) == 3 else (args[0], 2, args[1])
    power(*full)
    assert (len(traces) > before[0]) == (outcome == "traces again") == check.cache.compiles
    assert (power._cache_size() > before[1]) == (outcome != "hits")


def test_a_committed_array_compiles_again_and_is_named():
    jitted = jax.jit(lambda x, y: x + y)
    inspection = jaxscope.inspect(jitted, O8, O8)
    committed = jax.device_put(O8, jax.devices()[0])
    (row,) = inspection.check(O8, committed).cache.rows
    assert (row.path, row.differs, row.outcome) == ("y", ("committed",), "compiles again")


def test_a_setting_that_changed_since_is_to_blame():
    inspection = jaxscope.inspect(jax.jit(lambda x: x @ x), O8)
    with jax.default_matmul_precision("float32"):
        (row,) = inspection.check(O8).cache.rows
    assert row.path == "setting jax_default_matmul_precision"
    assert inspection.check(O8).cache.outcome == "hits"


def test_options_of_the_inspection_do_not_count_as_settings():
    inspection = jaxscope.inspect(jax.jit(mixed), BF16, O8, target=jax.devices()[0], mesh={"data": 1})
    assert inspection.check(BF16, O8).cache.outcome == "hits"


def test_static_arguments_by_name_are_filled_in_or_taken():
    @functools.partial(jax.jit, static_argnames="n")
    def power(x, n):
        return x**n

    for inspection in (jaxscope.inspect(power, O8, 2), jaxscope.inspect(power, O8, n=2)):
        assert inspection.check(O8).cache.outcome == "hits"
    assert inspection.check(O8, n=2).cache.outcome == "hits"
    assert [row.path for row in inspection.check(O8, n=3).cache.rows] == ["n"]


def test_what_jit_refuses_is_told():
    jitted = jax.jit(mixed)
    check = jaxscope.inspect(jitted, BF16, F32).check("text", O8)
    assert check.cache.outcome == "raises" and [row.path for row in check.cache.rows] == ["x"]
    with pytest.raises(TypeError):
        jitted("text", O8)
    refused = jaxscope.inspect(jitted, object(), F32, call=(O8, O8))
    assert "jit raises for the arguments" in table_of(refused, "cache")["empty"]


def test_what_was_not_jitted_has_no_cache_and_says_so():
    lowered = jax.jit(mixed).lower(BF16, F32)
    inspection = jaxscope.inspect(lowered, call=(BF16, F32))
    assert "not made by jax.jit" in table_of(inspection, "cache")["empty"]
    with pytest.raises(UnavailableError, match=r"not made by jax\.jit"):
        _ = inspection.check(BF16, F32).cache_frame


def test_keys_of_calls_keep_no_arrays():
    array = jnp.arange(8.0)
    inspection = jaxscope.inspect(jax.jit(mixed), array, array, call=(array, array))
    check = inspection.check(array, array)
    reference = weakref.ref(array)
    del array
    gc.collect()
    assert reference() is None and check.cache.outcome == "hits"


def test_every_target_has_its_own_account():
    inspection = jaxscope.inspect(mixed, BF16, F32, targets=["cpu", "cuda:h100"], call=(BF16, F32))
    for tab in ("types", "types@cuda:h100"):
        assert len(table_of(inspection, "type changes", tab)["rows"]) == 1
        assert "runs the program it has" in table_of(inspection, "cache", tab)["summary"]
    assert list(inspection.type_changes["target"]) == ["cpu", "cuda:h100"]
