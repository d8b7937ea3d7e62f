/** Warns before Wi-Fi is turned off. It reads nothing. */
import { SkillPlugin, allow, warn } from "./loopwright/index.js";

function check(phone, call) {
  const off = call.tool === "manage_wifi" && call.arguments.action === "disable";
  return off ? warn("what runs over Wi-Fi stops: say so, or turn mobile data on first") : allow();
}

export default new SkillPlugin("plugin-name", "0.1.0", {
  summary: { en: "Load before changing the Wi-Fi.", zh: "更改 Wi-Fi 前加载。" },
  about: ["manage_wifi"],
  check,
}).rule(["manage_wifi"], {
  en: "Before Wi-Fi is turned off, say what will stop.",
  zh: "关闭 Wi-Fi 前，说明会中断什么。",
});
