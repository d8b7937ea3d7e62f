"""The exports of an environment plugin, and the further imports of its world."""

import json

from wit_world import exports
from wit_world.exports import environment
from wit_world.imports import clock_control, consent, tools, types

from ..environment import Turn
from ..errors import Failure
from ..phone import to_json
from ..plugin import Reply, ToolCall
from . import common
from .port import Port
from .refusal import failed

ACTORS = {"agent": types.Actor.AGENT, "user": types.Actor.USER, "automation": types.Actor.AUTOMATION}
NAMES = {actor: name for name, actor in ACTORS.items()}


def lowered(call: ToolCall) -> types.ToolCall:
    return types.ToolCall(call.id, call.tool, to_json(call.arguments))


class EnvironmentPort(Port):
    def installed(self):
        return tools.installed()

    def access(self, call):
        needs = tools.access(lowered(call))
        return None if needs is None else (needs.effect.name.lower(), needs.requires, needs.plugin)

    def invoke(self, call, actor):
        outcome = tools.invoke(lowered(call), ACTORS[actor])
        if isinstance(outcome, tools.Outcome_Ok):
            return "ok", (outcome.value.message, outcome.value.data)
        if isinstance(outcome, tools.Outcome_Failed):
            return "failed", (outcome.value.code, outcome.value.message, outcome.value.data)
        kind = type(outcome.value).__name__.rpartition("_")[2].lower()
        return "faulted", f"{kind}: {getattr(outcome.value, 'value', '')}".rstrip(": ")

    def confirmed(self, call):
        return consent.confirmed(lowered(call))

    def advance_to_ns(self, at_ns):
        clock_control.advance_to(common.instant(at_ns))


def observation(seen) -> environment.Observation:
    exposed = None if seen.exposed is None else list(seen.exposed)
    return environment.Observation(exposed, [to_json(notice) for notice in seen.notices])


def feedback(each) -> environment.Feedback:
    answer = each.answer
    if isinstance(answer, Reply):
        reply = environment.Reply_Done(types.Success(answer.message, to_json(answer.data)))
    else:
        case = environment.Reply_NeedsConfirmation if each.confirm else environment.Reply_Failed
        reply = case(failed(answer).value)
    return environment.Feedback(each.call_id, reply, [to_json(effect) for effect in each.effects])


def guarded(work):
    try:
        return work()
    except Failure as failure:
        raise failed(failure) from None
    except Exception as error:
        raise common.fault(error)


def export(declared):
    """The class that componentize-py looks for."""

    class Environment(exports.Environment):
        def describe(self):
            return common.identity(declared)

        def reset(self, setup):
            return guarded(lambda: observation(declared.run_reset(EnvironmentPort(), setup)))

        def step(self, turn):
            def work():
                calls = [ToolCall(call.id, call.tool, json.loads(call.arguments)) for call in turn.calls]
                answers, seen = declared.run_step(EnvironmentPort(), Turn(NAMES[turn.actor], calls))
                return environment.TurnResult([feedback(each) for each in answers], observation(seen))

            return guarded(work)

    return Environment
