"""The exports of a tool plugin."""

from wit_world import exports
from wit_world.exports import tool
from wit_world.imports import types

from ..errors import Failure
from ..phone import to_json
from . import common, refusal
from .port import Port

EFFECTS = {"read": types.Effect.READ, "write": types.Effect.WRITE, "destructive": types.Effect.DESTRUCTIVE}


def access_rule(rule) -> types.AccessRule:
    when = None if rule.argument is None else types.ArgMatch(rule.argument, [to_json(value) for value in rule.one_of])
    return types.AccessRule(when, EFFECTS[rule.effect], list(rule.requires))


def tool_spec(declared) -> types.ToolSpec:
    descriptions = common.localized({lang: text[0] for lang, text in declared.texts.items()})
    keywords = common.localized({lang: text[1] for lang, text in declared.texts.items()})
    rules = [access_rule(rule) for rule in declared.rules]
    arguments, result = to_json(declared.arguments), to_json(declared.result)
    return types.ToolSpec(declared.name, declared.domain, descriptions, keywords, arguments, result, rules, [])


def collection_spec(owned) -> types.CollectionSpec:
    schema = None if owned.schema is None else to_json(owned.schema)
    initial = [types.Doc(key, to_json(value)) for key, value in owned.initial.items()]
    return types.CollectionSpec(owned.name, schema, list(owned.bookkeeping), list(owned.indexes), initial)


def export(declared, *capabilities):
    """The class that componentize-py looks for. `capabilities` are the ports of those interfaces that the request asks for."""

    class ToolPort(*capabilities, Port):
        pass

    class Tool(exports.Tool):
        def describe(self):
            return common.identity(declared)

        def specs(self):
            uses = [tool.CollectionUse(name, write) for name, write in declared.uses]
            collections = [collection_spec(owned) for owned in declared.collections]
            return tool.Catalogue([tool_spec(each) for each in declared.tools.values()], collections, uses)

        def call(self, call):
            try:
                message, data = declared.call(ToolPort(), call.tool, call.arguments)
            except Failure as failure:
                raise refusal.failed(failure) from None
            except Exception as error:
                raise common.fault(error)
            return types.Success(message, data)

    return Tool
