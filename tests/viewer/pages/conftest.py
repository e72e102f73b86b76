"""Tests of the viewer's pages write sessions, so they have a site of their own."""

from collections.abc import Iterator

import pytest

from tests.viewer.conftest import Site, sample_site


@pytest.fixture(scope="package")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site with the sample session, to which tests add theirs."""
    with sample_site(tmp_path_factory.mktemp("pages")) as served:
        yield served
