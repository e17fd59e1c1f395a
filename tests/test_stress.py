"""Short versions of the parts of ``make stress``, which do not depend on time."""

import os

import pytest

if os.name == "nt":
    pytest.skip("commands are forked and killed, which Windows cannot do", allow_module_level=True)

from stress import damage, interleaved, kills, threads

pytestmark = pytest.mark.slow

SEED = 0


def assert_holds(findings):
    """Fail if a requirement is broken."""
    reasons = [f"{n} times: {reason}\n{findings.examples[reason]}" for reason, n in findings.broken.items()]
    assert not reasons, "\n".join(reasons)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Make a folder with a calibrated catalogue of 40 marks."""
    return damage.make(tmp_path_factory.mktemp("damage") / "whole", SEED)


def test_concurrent_commands_lose_nothing(tmp_path):
    """The second command runs before some statements of the first."""
    findings = interleaved.run(interleaved.make(tmp_path, SEED), most=4, slow=1)
    assert findings.counts["second commands that were done"] > 20
    assert_holds(findings)


def test_zeroed_pages_cause_no_wrong_answers_and_no_tracebacks(whole):
    findings = damage.examine(whole, damage.pages((whole / "marks.db").read_bytes())[::6])
    assert findings.counts["files"] > 10
    assert_holds(findings)


def test_flipped_bits_cause_no_wrong_answers_and_no_tracebacks(whole):
    findings = damage.examine(whole, damage.flips(whole / "marks.db", 40, SEED))
    assert findings.counts["files"] == 40
    assert_holds(findings)


def test_killed_commands_leave_intact_catalogues(tmp_path):
    """Every command that writes kills itself before some of its statements."""
    findings = kills.run_at_statements(tmp_path, SEED, most=3, slow=1)
    assert findings.counts["killed"] == findings.counts["commands"] > 15
    assert_holds(findings)


def test_threads_can_share_a_catalogue(tmp_path):
    findings = threads.run(tmp_path, SEED, steps=8)
    assert findings.counts["operations"] == 2 * threads.N_THREADS * 8
    assert_holds(findings)
