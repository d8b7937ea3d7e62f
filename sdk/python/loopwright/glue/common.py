"""What the worlds share: identities, localized texts, and how a fault ends the guest."""

from wit_world.imports import log, plugin, types

from ..errors import Fault
from ..phone import NS_PER_S, to_json

LEVELS = {"debug": log.Level.DEBUG, "info": log.Level.INFO, "warn": log.Level.WARN, "error": log.Level.ERROR}
# What a line of the log may hold of a fault, in characters: the host keeps the tail of a call's log.
FAULT_CHARACTERS_MAX = 4000


def identity(declared) -> plugin.Identity:
    ext = [(key, to_json(value)) for key, value in sorted(declared.ext.items())]
    return plugin.Identity(declared.name, declared.version, None, ext)


def localized(texts: dict) -> list:
    """English first, as the contract asks."""
    languages = sorted(texts, key=lambda lang: (lang != "en", lang))
    return [types.Localized(lang, texts[lang]) for lang in languages]


def write_log(level: str, message: str) -> None:
    log.write(LEVELS.get(level, log.Level.INFO), message)


def fault(error: BaseException) -> BaseException:
    """Logs an exception that no planner can mend; raising it traps."""
    text = str(error) if isinstance(error, Fault) else f"{type(error).__name__}: {error}"
    write_log("error", text[:FAULT_CHARACTERS_MAX])
    return error


def instant(at_ns: int) -> types.Instant:
    return types.Instant(at_ns // NS_PER_S, at_ns % NS_PER_S)


def nanoseconds(at: types.Instant) -> int:
    return at.seconds * NS_PER_S + at.nanoseconds
