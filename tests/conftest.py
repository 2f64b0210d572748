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


@pytest.fixture
def update_goldens(request):
    """Whether golden files are to be written rather than compared."""
    return request.config.getoption("--update-goldens")
