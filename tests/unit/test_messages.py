"""The wording of counts, lists and hints, and the readers of arguments that share it."""

import pytest

from linkwise._messages import and_more, did_you_mean, hint, in_words, many, more_lines, number, some_of
from linkwise._validation import read_choice, read_count
from linkwise.exceptions import LinkwiseError


def test_counts_have_their_noun():
    assert [many(1, "sample"), many(1204, "sample")] == ["1 sample", "1,204 samples"]
    assert [many(2, "branch"), many(3, "leaf", "leaves")] == ["2 branches", "3 leaves"]


def test_figures_have_the_digits_worth_reading():
    assert [number(116.25), number(20412.3), number(-1.59e-17, scale=1.0)] == ["116", "20,412", "0"]


def test_lists_are_joined_and_shortened():
    assert [in_words(["a"]), in_words(["a", "b"]), in_words(["a", "b", "c"], "or")] == ["a", "a and b", "a, b or c"]
    assert [and_more(5, 1209), and_more(5, 7, "... "), and_more(5, 5)] == [" and 1,204 more", "... and 2 more", ""]
    assert ["  #0 must_link(0, 1)", *more_lines(1, 3)] == ["  #0 must_link(0, 1)", "  ... and 2 more"]
    assert more_lines(3, 3) == []
    assert some_of([3, 1, 4, 1, 5, 9, 2]) == "3, 1, 4, 1, 5 and 2 more"


def test_hints_name_similar_choices_and_speak_python_outside_a_command():
    assert did_you_mean("otters", ["otter", "mink"], "names are compared exactly.") == "did you mean 'otter'?"
    assert hint(command="--impute median", python="impute='median'") == "impute='median'"


def test_wrong_arguments_are_refused_in_one_wording():
    assert read_count(3, "n_clusters", "cut", low=1, high=9) == 3
    with pytest.raises(LinkwiseError, match=r"^cut: n_clusters is True, expected a whole number from 1 to 9.$"):
        read_count(True, "n_clusters", "cut", low=1, high=9)
    with pytest.raises(LinkwiseError, match=r"^groups: say is 'near', expected 'together' or 'apart'.$"):
        read_choice("near", "say", "groups", ["together", "apart"])
