"""A verifier plugin: it judges what happened, and sees nothing else."""

import json
from dataclasses import dataclass, field

from .errors import Fault, JudgeError, StateError
from .phone import PhoneView
from .plugin import ToolCall

PAGE = 256
# The largest double below one: what a verdict that fails can score at most.
BELOW_PASS = 1.0 - 2.0 ** -53


@dataclass
class Change:
    """A document that differs between two snapshots; None where it did not exist."""
    collection: str
    key: str
    before: object
    after: object


@dataclass
class Step:
    """One thing that was done. `kind` is `call`, `ask`, `refuse`, `finish` or another action's name; `action` what it carried."""
    index: int
    turn: int
    at_ns: int
    by: str
    kind: str
    action: object
    ok: bool
    answer: object

    def call(self):
        """The tool call, where it was one."""
        return self.action if isinstance(self.action, ToolCall) else None

    def claim(self):
        """The answer of a finish, where it was one."""
        return self.action.get("answer") if self.kind == "finish" and isinstance(self.action, dict) else None


class Snapshot(PhoneView):
    """All state at one moment. It holds a handle of the host: use it in `with`, or drop it with `close`."""

    def collections(self) -> list:
        """The names of all collections, sorted."""
        return self._port.collections()

    def digest(self) -> bytes:
        """32 bytes: equal digests mean equal documents."""
        return self._port.digest()

    def close(self) -> None:
        """Gives the handle back."""
        self._port.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Evidence:
    """What happened, as the host recorded it."""

    def __init__(self, port):
        self._port = port

    def initial(self) -> Snapshot:
        """State when the episode began."""
        return Snapshot(self._port.initial())

    def after(self, count: int):
        """State after the first `count` steps; None when there were fewer."""
        found = self._port.after(count)
        return None if found is None else Snapshot(found)

    def target(self):
        """State that the task's gold actions lead to, where the task has gold."""
        found = self._port.target()
        return None if found is None else Snapshot(found)

    def changes(self, a: Snapshot, b: Snapshot, bookkeeping: bool = False) -> list:
        """All documents that differ from `a` to `b`, by collection and key."""
        changes, cursor = [], 0
        while cursor is not None:
            page, cursor = self._port.changes(a._port, b._port, bookkeeping, cursor, PAGE)
            changes.extend(Change(*change[:2], *(None if text is None else json.loads(text) for text in change[2:])) for change in page)
        return changes

    def differences(self, a: Snapshot, b: Snapshot, except_=()) -> list:
        """Why they are not the same, at most 16 lines; empty when they are."""
        return self._port.differences(a._port, b._port, list(except_))

    def step_count(self) -> int:
        """How many steps there are."""
        return self._port.step_count()

    def steps(self, start: int = 0, end=None) -> list:
        """Steps from `start` to before `end`, by default all."""
        end = self.step_count() if end is None else end
        steps = []
        while start + len(steps) < end:
            page = self._port.steps(start + len(steps), min(PAGE, end - start - len(steps)))
            if not page:
                break
            steps.extend(page)
        return steps

    def log(self, message: str, level: str = "info") -> None:
        """One line for the plugin's author."""
        self._port.log(level, message)


@dataclass
class Criterion:
    """One thing that was checked: stable id, whether it holds, what was expected and found."""
    id: str
    passed: bool
    reason: str
    held_at_reset: bool = False
    weight: float = 1.0


@dataclass
class Verdict:
    """A judgement. `Verdict.of` derives it from its criteria, so that outcome, score and progress agree."""
    passed: bool
    score: float
    progress: float
    criteria: list = field(default_factory=list)

    @classmethod
    def of(cls, criteria: list) -> "Verdict":
        """Passes exactly when every criterion holds. Progress leaves out what already held at reset."""
        passed = bool(criteria) and all(each.passed for each in criteria)
        progress = _share([each for each in criteria if not each.held_at_reset])
        score = 1.0 if passed else min(_share(criteria) or 0.0, BELOW_PASS)
        return cls(passed, score, float(passed) if progress is None else progress, criteria)


def _share(criteria: list):
    total = sum(each.weight for each in criteria)
    return sum(each.weight for each in criteria if each.passed) / total if total > 0.0 else None


class VerifierPlugin:
    """Judges what happened."""

    KIND = "verifier"

    def __init__(self, name: str, version: str):
        self.name, self.version, self.ext = name, version, {}
        self._judge = None

    def judge(self, function):
        """Decorates `judge(evidence, check, upto) -> Verdict`, which is asked once for each prefix: `upto` is its number of steps."""
        self._judge = function
        return function

    def run(self, port, check: str, upto: list) -> list:
        """Judges each prefix. Raises JudgeError where there is no verdict."""
        if self._judge is None:
            raise Fault(f"plugin `{self.name}` has no function decorated with `judge`")
        evidence, parsed = Evidence(port), json.loads(check)
        try:
            return [self._judge(evidence, parsed, count) for count in upto]
        except StateError as error:
            kind = "invalid-check" if error.kind in ("invalid", "denied", "limit") else "other"
            raise JudgeError(kind, str(error)) from error
