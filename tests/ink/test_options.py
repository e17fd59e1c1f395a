"""Options for finding ink."""

import inspect

import pytest

from radoncdt import cli
from radoncdt.ink import INK_KINDS, POLARITIES, InkOptions
from radoncdt.ink.options import DEFAULT_SPECKS, WATERMARK_THRESHOLD


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "sketch"}, "`kind` must be one of 'drawing', 'watermark', 'grey', got 'sketch'$"),
        (
            {"kind": "photo"},
            "`kind` must be one of 'drawing', 'watermark', 'grey', got 'photo'; 'photo' is now called 'watermark'$",
        ),
        ({"ink": "red"}, "`ink` must be one of 'auto', 'dark', 'bright', got 'red'$"),
        ({"kind": "drawing", "threshold": 2}, "`threshold` must be a number between 0 and 1"),
        ({"threshold": 1}, "`threshold` must be a number between 0 and 1"),
        ({"kind": "watermark", "threshold": -1}, "`threshold` must be a positive number"),
        ({"kind": "drawing", "low": 1}, "`low` applies only to the kind 'watermark', got the kind 'drawing'"),
        ({"kind": "watermark", "low": 7}, "`low` must not be above the threshold 5, got 7"),
        ({"kind": "watermark", "low": 3, "threshold": 2}, "`low` must not be above the threshold 2, got 3"),
        ({"kind": "watermark", "specks": 2}, "`specks` must be a number from 0 to 1"),
        ({"kind": "watermark", "max_side": 3}, "`max_side` must be at least 8"),
        ({"kind": "grey", "threshold": 1}, "`threshold` applies only to the kind 'drawing' or 'watermark', got"),
        ({"kind": "grey", "specks": 0.1}, "`specks` applies only to the kind 'drawing' or 'watermark', got"),
    ],
)
def test_invalid_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        InkOptions(**options)


def test_defaults_are_those_of_a_drawing():
    assert InkOptions() == InkOptions(kind="drawing", ink="auto")
    for polarity in POLARITIES:
        for kind in INK_KINDS:
            InkOptions(kind=kind, ink=polarity)


def test_documented_defaults_are_the_real_ones(capsys):
    text = " ".join(inspect.getdoc(InkOptions).split())
    drawing, watermark = DEFAULT_SPECKS["drawing"], DEFAULT_SPECKS["watermark"]
    assert f"{drawing:g} by default for drawings, {watermark:g} for watermarks" in text
    assert f"in standard deviations of the noise; {WATERMARK_THRESHOLD:g} by default" in text
    with pytest.raises(SystemExit):
        cli.main(["ink", "--help"])
    printed = " ".join(capsys.readouterr().out.split())
    assert "0 removes nothing (default 0.03 for kind drawing, 0.06 for kind watermark)" in printed
    for kind, share in DEFAULT_SPECKS.items():
        assert f"{share:g} for kind {kind}" in printed
