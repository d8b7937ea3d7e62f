"""A refusal, as tools and environments give it."""

from componentize_py_types import Err
from wit_world.imports import types

from ..errors import Failure
from ..phone import to_json


def failed(failure: Failure) -> Err:
    data = None if failure.data is None else to_json(failure.data)
    return Err(types.Failure(failure.code, failure.message, data))
