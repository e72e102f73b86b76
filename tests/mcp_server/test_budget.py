"""How much of a text fits, and that nothing is cut inside what is shown as one character."""

import pytest

from toolfold.mcp_server.budget import fitting


@pytest.mark.parametrize(
    "cluster",
    ["👩\u200d🚀", "e\u0301\u0323", "🇩🇪", "\r\n", "👍\U0001f3fd", "❤\ufe0f"],
    ids=ascii,
)
def test_a_text_is_never_cut_inside_what_is_shown_as_one_character(cluster: str) -> None:
    text = cluster * 20
    for limit in range(len(cluster), len(text) + 1):
        begun = fitting(text, limit, len)
        assert begun == cluster * (len(begun) // len(cluster))
        assert limit - len(begun) < len(cluster) or "\n" in cluster
