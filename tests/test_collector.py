"""The collector is put off for as long as asked, and afterwards as the user had it."""

import gc

import pytest

import jaxscope
from jaxscope._collector import collector_put_off


@pytest.mark.parametrize("was_on", [True, False])
def test_it_is_as_it_was(was_on):
    (gc.enable if was_on else gc.disable)()
    try:
        with pytest.raises(ZeroDivisionError), collector_put_off():
            assert not gc.isenabled()
            with collector_put_off():
                pass
            assert not gc.isenabled(), "the outer one has not ended"
            1 / 0
        assert gc.isenabled() == was_on
    finally:
        gc.enable()


def test_a_report_leaves_it_on():
    str(jaxscope.inspect(lambda x: x + 1, "f32[3]"))
    assert gc.isenabled()
