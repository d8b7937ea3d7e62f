"""A skill plugin: know-how about some tools. It advises, and cannot act."""

from dataclasses import dataclass

from .errors import Fault, StateError
from .phone import PhoneView


@dataclass
class Advice:
    """What a skill says of a call that is about to run: `allow`, `warn` or `block`, with a reason."""
    kind: str
    reason: str = ""

    @classmethod
    def allow(cls) -> "Advice":
        """Nothing against it."""
        return cls("allow")

    @classmethod
    def warn(cls, reason: str) -> "Advice":
        """It runs, and the planner is told this."""
        return cls("warn", reason)

    @classmethod
    def block(cls, reason: str) -> "Advice":
        """It does not run, and the planner is told why and what to do first."""
        return cls("block", reason)


class SkillPlugin:
    """A skill: its card, its rules by language and tool, and its check."""

    KIND = "skill"

    def __init__(self, name: str, version: str, *, summary: dict, about: list, exposes=()):
        self.name, self.version, self.ext = name, version, {}
        self.summary, self.about, self.exposes = summary, list(about), list(exposes)
        self._rules: list = []
        self._check = None

    def rule(self, tools: list, **texts) -> None:
        """Adds a rule that is shown while all of these tools are offered: `rule(["manage_battery"], en="…", zh="…")`."""
        self._rules.append((list(tools), texts))

    def check(self, function):
        """Decorates `check(phone, call) -> Advice`."""
        self._check = function
        return function

    def guidance(self, offered: list, lang: str) -> str:
        """The instructions for the tools that are offered; English where a language is missing."""
        shown = [texts for tools, texts in self._rules if all(tool in offered for tool in tools)]
        return "\n".join(f"- {texts.get(lang.split('-')[0], texts.get('en', ''))}" for texts in shown)

    def run_check(self, port, call) -> Advice:
        """Judges a call before it runs."""
        if self._check is None:
            return Advice.allow()
        try:
            return self._check(PhoneView(port), call)
        except StateError as error:
            raise Fault(str(error)) from error
