"""Options and fixtures that more than one test module needs."""

import pytest


def pytest_addoption(parser):
    parser.addoption(
        "--update-goldens",
        action="store_true",
        help="write the expected results again, after checking that they hold up",
    )
    parser.addoption(
        "--pictures",
        action="store_true",
        help="take pictures of what the browser tests open, into tests/ui/screenshots",
    )


def pytest_collection_modifyitems(items):
    """Files that take long go first, so that no core is left with one of them at the end."""
    long = {item.path for item in items if item.get_closest_marker("slow") or "lab" in item.fixturenames}
    items.sort(key=lambda item: item.path not in long)


@pytest.fixture
def update_goldens(request):
    """Whether golden files are to be written rather than compared."""
    return request.config.getoption("--update-goldens")
