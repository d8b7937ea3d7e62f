"""Queries, pages and errors of the state."""

from componentize_py_types import Err
from wit_world.imports import types

from ..errors import StateError

KINDS = {
    types.StateError_Denied: "denied", types.StateError_NotFound: "not-found", types.StateError_Conflict: "conflict",
    types.StateError_Limit: "limit", types.StateError_Invalid: "invalid", types.StateError_Other: "other",
}
TESTS = {
    "eq": types.Test_Eq, "ne": types.Test_Ne, "lt": types.Test_Lt, "le": types.Test_Le, "gt": types.Test_Gt, "ge": types.Test_Ge,
    "one-of": types.Test_OneOf, "contains": types.Test_Contains, "starts-with": types.Test_StartsWith, "exists": types.Test_Exists,
}


def asked(function, *arguments):
    """Calls an import; its error becomes the SDK's."""
    try:
        return function(*arguments)
    except Err as error:
        raise StateError(KINDS.get(type(error.value), "other"), getattr(error.value, "value", "")) from None


def query(clauses, orders, fields, limit, cursor) -> types.Query:
    def clause(at, test, value):
        if test not in TESTS:
            raise StateError("invalid", f"test `{test}`, expected one of {', '.join(TESTS)}")
        return types.Clause(at, TESTS[test](value))

    return types.Query([clause(*each) for each in clauses], [types.Order(*each) for each in orders], fields, limit, cursor)


def page(found: types.Page) -> tuple:
    return [(doc.key, doc.value) for doc in found.docs], found.next, found.total
