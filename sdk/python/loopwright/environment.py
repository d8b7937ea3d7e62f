"""An environment plugin: the rules of a world."""

import json
from dataclasses import dataclass, field

from .errors import Failure, Fault, StateError
from .phone import Phone
from .plugin import Reply, ToolCall


@dataclass
class Observation:
    """What an agent sees without a call: the tools that may be offered (None: as before, and after a reset all installed ones), and
    notices (objects with a `kind`)."""
    exposed: object = None
    notices: list = field(default_factory=list)


@dataclass
class Turn:
    """Calls of one actor (`agent`, `user` or `automation`) that were decided together."""
    actor: str
    calls: list


@dataclass
class Needs:
    """What a call needs: its effect, what it requires of the world, and the plugin that serves it."""
    effect: str
    requires: list
    plugin: str


@dataclass
class Feedback:
    """What came of one call: a Reply, or a Failure, which `confirm` turns into a question to the user. Effects are observations."""
    call_id: str
    answer: object
    effects: list = field(default_factory=list)
    confirm: bool = False


class Environment(Phone):
    """What an environment's functions get: the phone, the installed tools, the user's word and the clock."""

    def installed(self) -> list:
        """The names of all installed tools, sorted."""
        return self._port.installed()

    def access(self, call: ToolCall):
        """What a call needs; None when there is no such tool."""
        needs = self._port.access(call)
        return None if needs is None else Needs(*needs)

    def invoke(self, call: ToolCall, actor: str):
        """Runs a call; the host records it. A Reply, or a Failure: a tool whose code failed answers 503."""
        kind, payload = self._port.invoke(call, actor)
        if kind == "ok":
            message, data = payload
            return Reply(message, json.loads(data))
        if kind == "failed":
            code, message, data = payload
            return Failure(code, message, **(json.loads(data) if data else {}))
        return Failure.unavailable(f"`{call.tool}` failed", fault=payload)

    def confirmed(self, call: ToolCall) -> bool:
        """True when the user confirmed exactly this call in this episode."""
        return self._port.confirmed(call)

    def advance_to_ns(self, at_ns: int) -> None:
        """Moves the clock forward."""
        self._port.advance_to_ns(at_ns)


class EnvironmentPlugin:
    """The rules of a world: which tools are exposed, whether a call may run, and what follows from it."""

    KIND = "environment"

    def __init__(self, name: str, version: str, stateful: bool = False):
        self.name, self.version = name, version
        self.ext = {"stateful": True} if stateful else {}
        self._reset = None
        self._step = None

    def reset(self, function):
        """Decorates `reset(world, setup) -> Observation`."""
        self._reset = function
        return function

    def step(self, function):
        """Decorates `step(world, turn) -> (list of Feedback, Observation)`."""
        self._step = function
        return function

    def run_reset(self, port, setup: str) -> Observation:
        """Starts an episode on the prepared state."""
        return self._run(self._reset, "reset", port, json.loads(setup))

    def run_step(self, port, turn: Turn) -> tuple:
        """Runs one turn."""
        return self._run(self._step, "step", port, turn)

    def _run(self, function, name: str, port, argument):
        if function is None:
            raise Fault(f"plugin `{self.name}` has no function decorated with `{name}`")
        try:
            return function(Environment(port), argument)
        except StateError as error:
            raise Fault(str(error)) from error
