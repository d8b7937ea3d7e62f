"""Keeps bytes and calls other plugins' tools, as `src/lib.rs` does."""

from loopwright import CallError, Failure, Phone, Reply, ToolPlugin, schema

plugin = ToolPlugin("caller-python", "0.1.0")

KEY = {"key": schema.string()}
BYTES = schema.array(schema.integer(minimum=0, maximum=255))
CALL = schema.object(tool=schema.string(), arguments=schema.any())


def tool(name: str, arguments: dict):
    return plugin.tool(name, domain="test", en=(f"The tool {name}.", name), arguments=arguments, result=schema.any(), effect="write")


@tool("keep", schema.object(**KEY, bytes=BYTES))
def keep(phone: Phone, asked: dict) -> Reply:
    phone.scratch.put(asked["key"], bytes(asked["bytes"]))
    return Reply("kept", {"keys": phone.scratch.keys()})


@tool("lose", schema.object(**KEY, bytes=BYTES))
def lose(phone: Phone, asked: dict) -> Reply:
    phone.scratch.put(asked["key"], bytes(asked["bytes"]))
    raise Failure.conflict("lost: keep it")


@tool("recall", schema.object(**KEY))
def recall(phone: Phone, asked: dict) -> Reply:
    kept = phone.scratch.get(asked["key"])
    return Reply("recalled", {"bytes": None if kept is None else list(kept)})


@tool("forget", schema.object(**KEY))
def forget(phone: Phone, asked: dict) -> Reply:
    return Reply("forgotten", {"there": phone.scratch.delete(asked["key"])})


@tool("count", schema.object())
def count(phone: Phone, asked: dict) -> Reply:
    counted = (phone.scratch.get_json("count") or 0) + 1
    phone.scratch.put_json("count", counted)
    return Reply("counted", {"count": counted})


@tool("try_call", CALL)
def try_call(phone: Phone, asked: dict) -> Reply:
    try:
        reply = phone.call_tool(asked["tool"], asked["arguments"])
    except CallError as error:
        if error.kind != "failed":
            return Reply("called", {"came": error.kind, "what": error.detail})
        refused = error.refused
        return Reply("called", {"came": "failed", "code": refused.code, "message": refused.message, "data": refused.data})
    return Reply("called", {"came": "done", "message": reply.message, "data": reply.data})


@tool("pass_call", CALL)
def pass_call(phone: Phone, asked: dict) -> Reply:
    return phone.call_tool(asked["tool"], asked["arguments"])
