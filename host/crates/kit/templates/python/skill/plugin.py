"""Warns before Wi-Fi is turned off. It reads nothing."""

from loopwright import Advice, PhoneView, SkillPlugin, ToolCall

plugin = SkillPlugin(
    "plugin-name",
    "0.1.0",
    summary={"en": "Load before changing the Wi-Fi.", "zh": "更改 Wi-Fi 前加载。"},
    about=["manage_wifi"],
)
plugin.rule(["manage_wifi"], en="Before Wi-Fi is turned off, say what will stop.", zh="关闭 Wi-Fi 前，说明会中断什么。")


@plugin.check
def check(phone: PhoneView, call: ToolCall) -> Advice:
    if call.tool == "manage_wifi" and call.arguments.get("action") == "disable":
        return Advice.warn("what runs over Wi-Fi stops: say so, or turn mobile data on first")
    return Advice.allow()
