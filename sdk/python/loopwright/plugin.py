"""A tool plugin: what it declares, and how a call finds its handler."""

import json
from dataclasses import dataclass, field

from .errors import CallError, Failure, Fault, ScratchError, StateError
from .phone import Phone, Reply, to_json

EFFECTS = ("read", "write", "destructive")


@dataclass
class ToolCall:
    """A call: its id, the tool's name and the arguments, a dictionary."""
    id: str
    tool: str
    arguments: dict


@dataclass
class Collection:
    """A collection of documents that the plugin owns. Checks ignore the fields that `bookkeeping` points at."""
    name: str
    initial: dict = field(default_factory=dict)
    schema: object = None
    bookkeeping: tuple = ()
    indexes: tuple = ()


@dataclass
class Rule:
    """What a call needs; `argument` is None in the last rule, which fits every call."""
    argument: object
    one_of: tuple
    effect: str
    requires: tuple


def rule(argument=None, one_of=(), effect="read", requires=()) -> Rule:
    """An access rule: calls whose argument equals one of these have this effect. The last rule has no argument."""
    if effect not in EFFECTS:
        raise ValueError(f"effect is `{effect}`, expected one of {', '.join(EFFECTS)}")
    return Rule(argument, tuple(one_of), effect, tuple(requires))


@dataclass
class Tool:
    """One declared tool with its handler."""
    name: str
    domain: str
    texts: dict
    arguments: dict
    result: dict
    rules: list
    handler: object


class ToolPlugin:
    """The tools of one app. It keeps nothing between calls: data lives in the collections that it owns."""

    KIND = "tool"

    def __init__(self, name: str, version: str, world=None):
        self.name, self.version = name, version
        self.ext = {"world": world} if world else {}
        self.tools: dict = {}
        self.collections: list = []
        self.uses: list = []

    def owns(self, collection: Collection) -> None:
        """Declares a collection with the documents of a fresh phone."""
        self.collections.append(collection)

    def asks_for(self, collection: str, write: bool = False) -> None:
        """Asks to touch another plugin's collection. The operator's grant decides."""
        self.uses.append((collection, write))

    def tool(self, name: str, *, domain: str, en: tuple, arguments: dict, result: dict, effect=None, rules=None, requires=(), **texts):
        """Declares the decorated function as a tool. `en` and other languages are pairs of description and keywords. Say `effect`
        (`read`, `write`, `destructive`) with `requires`, or `rules` where it depends on an argument."""
        if (effect is None) == (rules is None):
            raise ValueError(f"tool `{name}`: expected either `effect` or `rules`")
        if name in self.tools:
            raise ValueError(f"tool `{name}` is declared twice")
        rules = rules if rules is not None else [rule(effect=effect, requires=requires)]

        def declare(handler):
            self.tools[name] = Tool(name, domain, {"en": en, **texts}, arguments, result, rules, handler)
            return handler

        return declare

    def call(self, port, name: str, arguments: str) -> tuple:
        """Runs a call: its message, and its data as JSON text. Raises Failure for a refusal; everything else is a fault."""
        tool = self.tools.get(name)
        if tool is None:
            raise Failure.not_found(f"no tool `{name}`", allowed=sorted(self.tools))
        try:
            reply = tool.handler(Phone(port), json.loads(arguments))
        except (StateError, CallError, ScratchError) as error:
            failure = error.failure()
            if failure is None:
                raise Fault(str(error)) from error
            raise failure from error
        if not isinstance(reply, Reply):
            raise Fault(f"tool `{name}` returned {type(reply).__name__}, expected Reply")
        return reply.message, to_json(reply.data)
