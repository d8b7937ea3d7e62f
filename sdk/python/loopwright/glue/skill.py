"""The exports of a skill plugin."""

import json

from wit_world import exports
from wit_world.exports import skill

from ..plugin import ToolCall
from . import common
from .reading import ReadingPort


def export(declared):
    """The class that componentize-py looks for."""

    class Skill(exports.Skill):
        def describe(self):
            return common.identity(declared)

        def card(self):
            return skill.SkillCard(declared.name, common.localized(declared.summary), declared.about, declared.exposes)

        def guidance(self, offered, lang):
            return declared.guidance(list(offered), lang)

        def check(self, call):
            try:
                asked = ToolCall(call.id, call.tool, json.loads(call.arguments))
                advice = declared.run_check(ReadingPort(), asked)
            except Exception as error:
                raise common.fault(error)
            if advice.kind == "allow":
                return skill.Advice_Allow()
            return (skill.Advice_Block if advice.kind == "block" else skill.Advice_Warn)(advice.reason)

    return Skill
