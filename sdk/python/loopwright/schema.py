"""The one profile of JSON Schema: inlined, closed objects. Every function returns a plain dictionary."""


def _described(schema: dict, description, more: dict) -> dict:
    if description:
        schema["description"] = description
    schema.update({key.rstrip("_"): value for key, value in more.items()})
    return schema


def object(required=None, **properties) -> dict:
    """A closed object. All properties are required unless `required` names those that are."""
    names = list(properties) if required is None else list(required)
    return {"type": "object", "properties": properties, "required": names, "additionalProperties": False}


def string(description=None, **more) -> dict:
    """A string; `enum`, `minLength`, `pattern` and their kin as keywords."""
    return _described({"type": "string"}, description, more)


def integer(description=None, **more) -> dict:
    """An integer; `minimum` and `maximum` as keywords."""
    return _described({"type": "integer"}, description, more)


def number(description=None, **more) -> dict:
    """A number."""
    return _described({"type": "number"}, description, more)


def boolean(description=None, **more) -> dict:
    """True or false."""
    return _described({"type": "boolean"}, description, more)


def array(items: dict, description=None, **more) -> dict:
    """A list of such items."""
    return _described({"type": "array", "items": items}, description, more)


def nullable(schema: dict) -> dict:
    """That, or null."""
    return {"anyOf": [schema, {"type": "null"}]}


def any(description=None, **more) -> dict:
    """Any JSON value."""
    return _described({}, description, more)
