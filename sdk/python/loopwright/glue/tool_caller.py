"""The interface of the capability `tool.call`. Only a component whose request asks for it has it, and only its entry imports this."""

import json

from componentize_py_types import Err
from wit_world.imports import tool_caller

from ..errors import CallError, Failure


class ToolCallerPort:
    def call_tool(self, name, arguments):
        try:
            success = tool_caller.call(name, arguments)
        except Err as error:
            raise call_error(error.value) from None
        return success.message, success.data


def call_error(error) -> CallError:
    if isinstance(error, tool_caller.CallError_Failed):
        given = error.value
        refused = Failure(given.code, given.message)
        refused.data = json.loads(given.data) if given.data else None
        return CallError("failed", given.message, refused)
    return CallError("denied" if isinstance(error, tool_caller.CallError_Denied) else "faulted", error.value)
