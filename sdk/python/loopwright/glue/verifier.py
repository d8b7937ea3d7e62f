"""The exports of a verifier plugin, and the evidence that it sees."""

import json

from componentize_py_types import Err
from wit_world import exports
from wit_world.exports import verifier
from wit_world.imports import evidence

from ..errors import JudgeError
from ..plugin import ToolCall
from ..verifier import Step
from . import common, state

ERRORS = {
    "invalid-check": verifier.JudgeError_InvalidCheck, "missing-evidence": verifier.JudgeError_MissingEvidence,
    "other": verifier.JudgeError_Other,
}


class SnapshotPort:
    def __init__(self, handle):
        self.handle = handle

    def get(self, collection, key):
        return state.asked(self.handle.get, collection, key)

    def get_many(self, keys):
        return [self.get(collection, key) for collection, key in keys]

    def find(self, collection, *query):
        return state.page(state.asked(self.handle.find, collection, state.query(*query)))

    def collections(self):
        return self.handle.collections()

    def digest(self):
        return bytes(self.handle.digest())

    def log(self, level, message):
        common.write_log(level, message)

    def close(self):
        self.handle.__exit__(None, None, None)


def step(recorded) -> Step:
    action = recorded.action
    kind, payload = type(action).__name__.rpartition("_")[2].lower(), action.value
    if isinstance(action, evidence.Action_Call):
        payload = ToolCall(payload.id, payload.tool, json.loads(payload.arguments))
    elif isinstance(action, evidence.Action_Finish):
        payload = json.loads(payload)
    elif isinstance(action, evidence.Action_Other):
        kind, payload = payload[0], json.loads(payload[1])
    at_ns, by = common.nanoseconds(recorded.at), recorded.by.name.lower()
    return Step(recorded.index, recorded.turn, at_ns, by, kind, payload, recorded.ok, json.loads(recorded.answer))


class EvidencePort:
    def initial(self):
        return SnapshotPort(evidence.initial())

    def after(self, count):
        found = evidence.after(count)
        return None if found is None else SnapshotPort(found)

    def target(self):
        found = evidence.target()
        return None if found is None else SnapshotPort(found)

    def changes(self, a, b, bookkeeping, cursor, limit):
        page, following = evidence.changes(a.handle, b.handle, bookkeeping, cursor, limit)
        return [(change.collection, change.key, change.before, change.after) for change in page], following

    def differences(self, a, b, except_):
        return evidence.differences(a.handle, b.handle, except_)

    def step_count(self):
        return evidence.step_count()

    def steps(self, start, limit):
        return [step(each) for each in evidence.steps(start, limit)]

    def log(self, level, message):
        common.write_log(level, message)


def verdict(given) -> verifier.Verdict:
    outcome = verifier.Outcome.PASS if given.passed else verifier.Outcome.FAIL
    criteria = [
        verifier.Criterion(each.id, each.passed, each.held_at_reset, float(each.weight), each.reason) for each in given.criteria
    ]
    return verifier.Verdict(outcome, float(given.score), float(given.progress), criteria)


def export(declared):
    """The class that componentize-py looks for."""

    class Verifier(exports.Verifier):
        def describe(self):
            return common.identity(declared)

        def judge(self, check, upto):
            try:
                return [verdict(each) for each in declared.run(EvidencePort(), check, list(upto))]
            except JudgeError as error:
                raise Err(ERRORS.get(error.kind, verifier.JudgeError_Other)(error.detail)) from None
            except Exception as error:
                raise common.fault(error)

    return Verifier
