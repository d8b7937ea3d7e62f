"""Passes when one field of one document is as the check says: `{"collection", "key", "at", "equals"}`."""

import json

from loopwright import Criterion, Evidence, JudgeError, Snapshot, Verdict, VerifierPlugin

plugin = VerifierPlugin("plugin-name", "0.1.0")

KEYS = {"collection", "key", "at", "equals"}


@plugin.judge
def judge(evidence: Evidence, check: dict, upto: int) -> Verdict:
    if set(check) != KEYS:
        raise JudgeError("invalid-check", f"expected the keys {', '.join(sorted(KEYS))}, found {', '.join(sorted(check))}")
    with evidence.initial() as initial:
        held_at_reset = field(initial, check) == check["equals"]
    state = evidence.after(upto)
    if state is None:
        raise JudgeError("missing-evidence", f"state after {upto} steps")
    with state:
        found = field(state, check)
    place = f"{check['collection']}/{check['key']}{check['at']}"
    reason = f"{place}: expected {json.dumps(check['equals'])}, found {json.dumps(found)}"
    return Verdict.of([Criterion("document", found == check["equals"], reason, held_at_reset)])


def field(state: Snapshot, check: dict):
    found = state.get(check["collection"], check["key"])
    for part in check["at"].split("/")[1:]:
        if not isinstance(found, dict):
            return None
        found = found.get(part)
    return found
