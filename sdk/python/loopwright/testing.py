"""Stands in for the host in an author's own tests, which then run natively: `python -m unittest`.

It holds documents in memory and keeps the contract's transactions. It does not check arguments against their schema, grants or limits: those
are the host's, and `loopwright plugin test` runs the component under it.
"""

import copy
import json

from .environment import Turn
from .errors import CallError, Failure, Fault, ScratchError, StateError
from .phone import NS_PER_S, Phone, PhoneView, Reply
from .plugin import ToolCall
from .verifier import Change, Evidence, Step

# 2026-01-01T00:00:00Z.
BEGIN_S = 1_767_225_600
# Of a key in scratch, and what an entry counts beside its key and value, as on the host.
KEY_BYTES_MAX = 256
ENTRY_BYTES = 64


def _kind(value) -> str:
    return "bool" if isinstance(value, bool) else "number" if isinstance(value, (int, float)) else type(value).__name__


def equal(a, b) -> bool:
    """Equality of JSON values: `1` and `1.0` are the same, `1` and `true` are not."""
    if _kind(a) != _kind(b):
        return False
    if isinstance(a, list):
        return len(a) == len(b) and all(map(equal, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a)
    return a == b


def _field(document, pointer: str):
    """The field and whether it is there (RFC 6901)."""
    for part in pointer.split("/")[1:]:
        part = part.replace("~1", "/").replace("~0", "~")
        if isinstance(document, dict) and part in document:
            document = document[part]
        elif isinstance(document, list) and part.isdecimal() and int(part) < len(document):
            document = document[int(part)]
        else:
            return None, False
    return document, True


def _holds(document, at: str, test: str, operand) -> bool:
    found, there = _field(document, at)
    if test == "exists":
        return there == operand
    if test == "starts-with":
        return isinstance(found, str) and found.startswith(operand)
    if test == "one-of":
        return there and any(equal(found, json.loads(each)) for each in operand)
    value = json.loads(operand)
    if test in ("eq", "ne"):
        return (there and equal(found, value)) == (test == "eq")
    if test == "contains":
        if isinstance(found, str):
            return isinstance(value, str) and value in found
        return isinstance(found, list) and any(equal(each, value) for each in found)
    if not there or _kind(found) != _kind(value) or _kind(value) not in ("number", "str"):
        return False
    return {"lt": found < value, "le": found <= value, "gt": found > value, "ge": found >= value}[test]


_RANK = {"NoneType": 0, "bool": 1, "number": 2, "str": 3}


def _order(value, there: bool) -> tuple:
    kind = _kind(value)
    comparable = value if kind in ("bool", "number", "str") else 0
    return there, _RANK.get(kind, 4), comparable


class FakePort:
    """The imports, over documents in memory: `{collection: {key: document}}`."""

    def __init__(self, documents: dict, granted=None):
        self.documents = documents
        self.granted = granted
        self.log_lines: list = []
        self.seconds = BEGIN_S
        self.bits = 0
        self.ids: dict = {}

    def _collection(self, name: str) -> dict:
        if self.granted is not None and name not in self.granted:
            raise StateError("denied", name)
        return self.documents.setdefault(name, {})

    def get(self, collection, key):
        value = self._collection(collection).get(key)
        return None if value is None else json.dumps(value)

    def get_many(self, keys):
        return [self.get(collection, key) for collection, key in keys]

    def find(self, collection, clauses, orders, fields, limit, cursor):
        found = sorted(self._collection(collection).items())
        found = [(key, value) for key, value in found if all(_holds(value, *clause) for clause in clauses)]
        for at, descending in reversed(orders):
            found.sort(key=lambda item: _order(*_field(item[1], at)), reverse=descending)
        start = int(cursor or 0)
        page = found[start:start + (limit or 256)]
        following = str(start + len(page)) if start + len(page) < len(found) else None
        return [(key, json.dumps(self._shown(value, fields))) for key, value in page], following, len(found)

    @staticmethod
    def _shown(document, fields):
        if not fields:
            return document
        shown: dict = {}
        for pointer in fields:
            value, there = _field(document, pointer)
            if there:
                *parents, last = pointer.split("/")[1:]
                place = shown
                for part in parents:
                    place = place.setdefault(part, {})
                place[last] = value
        return shown

    def put(self, collection, key, text):
        self._collection(collection)[key] = json.loads(text)

    def patch(self, collection, key, text):
        documents = self._collection(collection)
        if key not in documents:
            raise StateError("not-found")
        documents[key] = _merged(documents[key], json.loads(text))

    def delete(self, collection, key):
        return self._collection(collection).pop(key, None) is not None

    def now_ns(self):
        return self.seconds * NS_PER_S

    def zone(self):
        return "UTC"

    def offset_s(self, at_ns):
        return 0

    def random(self):
        # SplitMix64: not the host's stream, but the same numbers in every run.
        self.bits = (self.bits + 0x9E3779B97F4A7C15) % 2**64
        mixed = (self.bits ^ self.bits >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB % 2**64
        return mixed ^ mixed >> 31

    def next_id(self, prefix):
        self.ids[prefix] = self.ids.get(prefix, 0) + 1
        return f"{prefix}-{self.ids[prefix]:04}"

    def log(self, level, message):
        self.log_lines.append((level, message))


def _merged(document, merge):
    if not isinstance(merge, dict):
        return merge
    result = dict(document) if isinstance(document, dict) else {}
    for key, value in merge.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = _merged(result.get(key), value)
    return result


class ToolFakePort(FakePort):
    """The imports of a tool plugin with every capability: scratch within a quota, and scripted answers of other tools."""

    def __init__(self, documents: dict, granted=None, scratch_bytes=0, answers=None):
        super().__init__(documents, granted)
        self.quota = scratch_bytes
        self.kept: dict = {}
        self.answers = {name: list(each) for name, each in (answers or {}).items()}
        self.called: list = []

    def call_tool(self, name, arguments):
        arguments = json.loads(arguments)
        if not isinstance(arguments, dict):
            raise Fault(f"the arguments of `{name}` are no object: the host traps here")
        self.called.append((name, arguments))
        if name not in self.answers:
            raise CallError("denied", f"tool `{name}` is not granted")
        if not self.answers[name]:
            raise AssertionError(f"`{name}` is called once more than there are answers")
        answer = self.answers[name].pop(0)
        if isinstance(answer, Failure):
            raise CallError("failed", answer.message, answer)
        if isinstance(answer, CallError):
            raise answer
        return answer.message, json.dumps(answer.data)

    def scratch_get(self, key):
        return self.kept.get(key)

    def scratch_put(self, key, value):
        length = len(key.encode("utf-8"))
        if not 1 <= length <= KEY_BYTES_MAX:
            raise ScratchError("invalid", f"key: expected 1 to {KEY_BYTES_MAX} bytes, found {length}")
        entries = {**self.kept, key: value}.items()
        found = sum(ENTRY_BYTES + len(each.encode("utf-8")) + len(kept) for each, kept in entries)
        if found > self.quota:
            raise ScratchError("quota", f"at most {self.quota} bytes allowed, found {found}")
        self.kept[key] = value

    def scratch_delete(self, key):
        return self.kept.pop(key, None) is not None

    def scratch_keys(self):
        return sorted(self.kept)


class TestPhone:
    """A phone with one tool plugin: its collections with their initial documents, and `state` over them. `scratch_bytes` is its quota of
    scratch. `answers` are those of other plugins' tools, by name and one call after the other: a Reply, a Failure, or a CallError; a tool
    without answers is denied."""

    __test__ = False

    def __init__(self, plugin=None, state=None, scratch_bytes=0, answers=None):
        self.plugin = plugin
        documents = {owned.name: copy.deepcopy(owned.initial) for owned in plugin.collections} if plugin else {}
        for name, more in (state or {}).items():
            documents.setdefault(name, {}).update(copy.deepcopy(more))
        granted = None if plugin is None else {*(owned.name for owned in plugin.collections), *(name for name, _ in plugin.uses)}
        self.port = ToolFakePort(documents, granted, scratch_bytes, answers)

    def call(self, name: str, **arguments) -> Reply:
        """Calls a tool as a transaction; raises Failure for a refusal."""
        before = copy.deepcopy(self.port.documents), dict(self.port.kept)
        try:
            message, data = self.plugin.call(self.port, name, json.dumps(arguments))
        except Exception:
            self.port.documents, self.port.kept = before
            raise
        return Reply(message, json.loads(data))

    def view(self) -> PhoneView:
        """State to read, as a skill's check gets it."""
        return PhoneView(self.port)

    def phone(self) -> Phone:
        """The phone, as a handler gets it."""
        return Phone(self.port)

    def document(self, collection: str, key: str):
        """A document as it stands, or None."""
        return self.port.documents.get(collection, {}).get(key)

    def kept(self, key: str):
        """What the plugin keeps in its scratch, as bytes, or None."""
        return self.port.kept.get(key)

    def called(self) -> list:
        """The calls of other plugins' tools so far, pairs of tool and arguments."""
        return list(self.port.called)


class TestWorld(FakePort):
    """What stands around an environment: installed tools as functions `(arguments) -> Reply`, and the user's word."""

    __test__ = False

    def __init__(self, plugin, tools=None, state=None, needs=None):
        super().__init__(copy.deepcopy(state or {}))
        self.plugin, self.tools, self.needs = plugin, tools or {}, needs or {}
        self.confirmed_calls: list = []

    def reset(self, setup=None):
        """Starts an episode."""
        return self.plugin.run_reset(self, json.dumps(setup or {}))

    def step(self, *calls, actor="agent") -> tuple:
        """Runs one turn of pairs of tool and arguments."""
        made = [ToolCall(f"c{index + 1}", tool, arguments) for index, (tool, arguments) in enumerate(calls)]
        return self.plugin.run_step(self, Turn(actor, made))

    def installed(self):
        return sorted(self.tools)

    def access(self, call):
        return (*self.needs.get(call.tool, ("read", [])), "test") if call.tool in self.tools else None

    def invoke(self, call, actor):
        try:
            reply = self.tools[call.tool](call.arguments)
        except Failure as failure:
            return "failed", (failure.code, failure.message, json.dumps(failure.data) if failure.data else None)
        return "ok", (reply.message, json.dumps(reply.data))

    def confirmed(self, call):
        return (call.tool, call.arguments) in self.confirmed_calls

    def advance_to_ns(self, at_ns):
        if at_ns < self.now_ns():
            raise Fault("the clock cannot go back")
        self.seconds = at_ns // NS_PER_S


class TestEvidence:
    """Evidence from states and steps: `states[n]` is the state after n steps."""

    __test__ = False

    def __init__(self, states, steps=(), target=None):
        self.states, self.recorded, self.gold = list(states), list(steps), target
        self.log_lines: list = []

    @staticmethod
    def call(index: int, tool: str, arguments: dict, ok=True, answer=None) -> Step:
        """A step that called a tool."""
        return Step(index, index, (BEGIN_S + index) * NS_PER_S, "agent", "call", ToolCall(f"c{index}", tool, arguments), ok, answer)

    @staticmethod
    def finish(index: int, answer: str) -> Step:
        """A step that finished with a claim."""
        return Step(index, index, (BEGIN_S + index) * NS_PER_S, "agent", "finish", {"answer": answer}, True, None)

    def evidence(self) -> Evidence:
        """The evidence, as a verifier gets it."""
        return Evidence(self)

    def initial(self):
        return _FakeSnapshot(self.states[0])

    def after(self, count):
        return _FakeSnapshot(self.states[count]) if count < len(self.states) else None

    def target(self):
        return None if self.gold is None else _FakeSnapshot(self.gold)

    def changes(self, a, b, bookkeeping, cursor, limit):
        places = {(name, key) for each in (a, b) for name, documents in each.documents.items() for key in documents}
        found = []
        for name, key in sorted(places):
            before, after = (each.documents.get(name, {}).get(key) for each in (a, b))
            if not equal(before, after):
                found.append((name, key, *(None if each is None else json.dumps(each) for each in (before, after))))
        return found, None

    def differences(self, a, b, except_):
        changes = (Change(*change) for change in self.changes(a, b, False, 0, 0)[0])
        return [f"{change.collection}/{change.key} differs" for change in changes if change.collection not in except_][:16]

    def step_count(self):
        return len(self.recorded)

    def steps(self, start, limit):
        return self.recorded[start:start + limit]

    def log(self, level, message):
        self.log_lines.append((level, message))


class _FakeSnapshot(FakePort):
    def collections(self):
        return sorted(self.documents)

    def digest(self):
        return b"\0" * 32

    def close(self):
        pass
