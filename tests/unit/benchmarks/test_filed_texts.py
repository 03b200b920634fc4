"""The journey from filed texts to a refined hierarchy runs from one command, on files."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from benchmarks import filed_texts


@pytest.mark.filterwarnings("ignore")
def test_the_quick_run_prints_a_row_and_the_new_branches(capsys):
    assert filed_texts.main(["--quick"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].startswith("| made up, b unknown | 9 of 40 |")
    assert "10 of 10 unknown" in lines[2]
    assert all(line.startswith("      ") for line in lines[3:])


def test_texts_hold_the_words_and_folders_are_written_from_the_top():
    data = filed_texts.made_up()
    counts = [Counter(text.split()) for text in filed_texts.words_of(data)]
    assert [count["term7"] for count in counts] == data.X[:, [7]].toarray().ravel().tolist()
    assert filed_texts.paths_of(data.taxonomy) == ["a", "a/b", "a/c", "d", "d/e", "d/f"]
    filed = filed_texts.file_some(data.taxonomy, 5, "b", 0)
    assert np.bincount(data.taxonomy.node[filed]).tolist() == [0, 0, 3, 0, 3, 3]
