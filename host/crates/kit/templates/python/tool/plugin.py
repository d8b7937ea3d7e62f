"""A lamp with two tools. It knows nothing but its own collection. What it asks an operator for beyond that, such as other plugins' tools to
call or bytes to keep, stands in `request.json`."""

from loopwright import Collection, Failure, Phone, Reply, ToolPlugin, schema

plugin = ToolPlugin("plugin-name", "0.1.0")
plugin.owns(Collection("plugin-name", initial={"main": {"level": 0}}))

LAMP = schema.object(level=schema.integer("How bright, from 0 (off) to 255.", minimum=0, maximum=255))


@plugin.tool(
    "set_plugin_name",
    domain="home",
    en=("Sets how bright the lamp is.", "light, lamp, dim, bright"),
    zh=("调节台灯亮度。", "台灯 灯 亮度 调亮 调暗"),
    arguments=LAMP,
    result=LAMP,
    effect="write",
)
def set_lamp(phone: Phone, arguments: dict) -> Reply:
    now = phone.require("plugin-name", "main")
    if now["level"] == arguments["level"]:
        raise Failure.conflict(f"the level is {now['level']} already: choose another")
    phone.put("plugin-name", "main", arguments)
    return Reply("the lamp is set", arguments)


@plugin.tool(
    "get_plugin_name",
    domain="home",
    en=("Says how bright the lamp is.", "light, lamp"),
    zh=("查询台灯亮度。", "台灯 灯 亮度"),
    arguments=schema.object(),
    result=LAMP,
    effect="read",
)
def get_lamp(phone: Phone, arguments: dict) -> Reply:
    return Reply("the lamp", phone.require("plugin-name", "main"))
