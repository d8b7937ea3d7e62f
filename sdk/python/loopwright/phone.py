"""State, time, randomness, ids, log and granted capabilities, as a plugin reaches them. A port does the work: the host's in a component, a
fake in tests."""

import json
from dataclasses import dataclass

from .errors import Fault

NS_PER_S = 1_000_000_000


def to_json(value) -> str:
    """Compact JSON text. What JSON cannot hold, such as NaN, is a fault of the plugin."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise Fault(f"a value has no JSON form: {error}") from error


@dataclass
class Doc:
    """A document of a collection."""
    key: str
    value: object


@dataclass
class Page:
    """One page of a query's result: documents, the cursor of the next page or None, and how many match in all."""
    docs: list
    next: object
    total: int


class PhoneView:
    """State to read, and the log."""

    def __init__(self, port):
        self._port = port

    def get(self, collection: str, key: str):
        """One document, or None."""
        text = self._port.get(collection, key)
        return None if text is None else json.loads(text)

    def get_many(self, keys: list) -> list:
        """Several documents, by pairs of collection and key, in the same order. At most 256."""
        return [None if text is None else json.loads(text) for text in self._port.get_many(keys)]

    def require(self, collection: str, key: str):
        """A document that the plugin's own data always holds; its absence is a fault."""
        value = self.get(collection, key)
        if value is None:
            raise Fault(f"document `{collection}/{key}` is missing")
        return value

    def find(self, collection: str, *where, order_by=(), fields=(), limit=0, cursor=None) -> Page:
        """The documents that match. A condition is `(pointer, test, value)`, with a test out of `eq ne lt le gt ge one-of contains
        starts-with exists`; a sort key is a pointer, or `(pointer, "desc")`."""
        clauses = [(at, test, value if test in ("starts-with", "exists", "one-of") else to_json(value)) for at, test, value in where]
        clauses = [(at, test, [to_json(each) for each in value] if test == "one-of" else value) for at, test, value in clauses]
        orders = [(key, False) if isinstance(key, str) else (key[0], key[1] == "desc") for key in order_by]
        docs, following, total = self._port.find(collection, clauses, orders, list(fields), limit, cursor)
        return Page([Doc(key, json.loads(text)) for key, text in docs], following, total)

    def find_all(self, collection: str, *where, **options) -> list:
        """All documents that match, page by page."""
        docs, cursor = [], None
        while True:
            page = self.find(collection, *where, cursor=cursor, **options)
            docs.extend(page.docs)
            cursor = page.next
            if cursor is None:
                return docs

    def log(self, message: str, level: str = "info") -> None:
        """One line for the plugin's author: `debug`, `info`, `warn` or `error`. Planners never see it."""
        self._port.log(level, message)


@dataclass
class Reply:
    """A call that did what was asked: a sentence for people, and data that conforms to the tool's result schema."""
    message: str
    data: object = None


class Scratch:
    """Bytes that a tool plugin keeps from call to call of an episode. Nobody else reads them, they are no part of the world, and a call
    that fails leaves no write behind. A key has 1 to 256 bytes; an entry counts its key, its value and 64 bytes against the quota."""

    def __init__(self, port):
        self._port = port

    def get(self, key: str):
        """What is kept under a key, as bytes, or None."""
        return self._port.scratch_get(key)

    def put(self, key: str, value: bytes) -> None:
        """Keeps bytes under a key; raises ScratchError beyond the quota."""
        if not isinstance(value, (bytes, bytearray)):
            raise Fault(f"scratch keeps bytes, found {type(value).__name__}: put_json keeps other values")
        self._port.scratch_put(key, bytes(value))

    def delete(self, key: str) -> bool:
        """Removes what is kept under a key; says whether there was something."""
        return self._port.scratch_delete(key)

    def keys(self) -> list:
        """The keys, sorted."""
        return self._port.scratch_keys()

    def get_json(self, key: str):
        """What `put_json` kept under a key, or None."""
        kept = self.get(key)
        if kept is None:
            return None
        try:
            return json.loads(kept.decode("utf-8"))
        except ValueError as error:
            raise Fault(f"scratch `{key}` holds no JSON: {error}") from error

    def put_json(self, key: str, value) -> None:
        """Keeps a value as JSON text."""
        self.put(key, to_json(value).encode("utf-8"))


class Phone(PhoneView):
    """What a tool's handler gets. A call is a transaction: an exception rolls its writes back."""

    def call_tool(self, name: str, arguments: dict) -> Reply:
        """Calls a tool of another plugin within the running call: when this one fails, its writes are gone too. Raises CallError, which
        says apart what the tool refused, what the host denied and code that failed. `request.json` asks for the tool: `{"capability":
        "tool.call", "tools": ["add_event"]}`."""
        message, data = self._asked_for("call_tool", "tool.call")(name, to_json(arguments))
        return Reply(message, json.loads(data))

    @property
    def scratch(self) -> Scratch:
        """Bytes that the plugin keeps. `request.json` asks for a quota: `{"capability": "scratch", "bytes": 65536}`."""
        self._asked_for("scratch_get", "scratch")
        return Scratch(self._port)

    def _asked_for(self, function: str, capability: str):
        """A function that a component has only when its request asks for it."""
        found = getattr(self._port, function, None)
        if found is None:
            raise Fault(f"there is no `{capability}`: add the capability to request.json and build again")
        return found

    def put(self, collection: str, key: str, value) -> None:
        """Creates or replaces a document."""
        self._port.put(collection, key, to_json(value))

    def patch(self, collection: str, key: str, merge: dict) -> None:
        """Merges into an existing document (RFC 7396: None removes a field)."""
        self._port.patch(collection, key, to_json(merge))

    def delete(self, collection: str, key: str) -> bool:
        """Removes a document; says whether there was one."""
        return self._port.delete(collection, key)

    def now_ns(self) -> int:
        """The episode's time, in nanoseconds since 1970-01-01T00:00:00Z. It stands still within a turn."""
        return self._port.now_ns()

    def zone(self) -> str:
        """The phone's time zone, an IANA name."""
        return self._port.zone()

    def offset_s(self, at_ns: int) -> int:
        """The zone's offset from UTC at a moment, in seconds, east positive."""
        return self._port.offset_s(at_ns)

    def random(self) -> int:
        """The next 64 bits of the plugin's own seeded stream."""
        return self._port.random()

    def next_id(self, prefix: str) -> str:
        """The next id of a counter, such as `note-0001`."""
        return self._port.next_id(prefix)
