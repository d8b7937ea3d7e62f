"""Sends back every value type of the contract, as componentize-py has it. It may not have the name of its world."""

import json

from componentize_py_types import Err
from wit_world import exports

from loopwright.phone import to_json

NAMES = """instant localized actor effects rule tool_spec collection_spec tool_call success failure state_error query page identity needs
tool_outcome change step doubles numbers bytes halves strings""".split()


def echo(self, value):
    return value


def echo_read(self, value):
    if isinstance(value, Err):
        raise value
    return value.value


def through_json(self, value):
    return to_json(json.loads(value))


# The bindings' class is abstract, so that the methods have to be there when it is made.
METHODS = {f"echo_{name}": echo for name in NAMES}
Values = type("Values", (exports.Values,), {**METHODS, "echo_read": echo_read, "through_json": through_json})
