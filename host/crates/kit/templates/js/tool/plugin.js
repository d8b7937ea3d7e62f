/**
 * A lamp with two tools. It knows nothing but its own collection. What it asks an operator for beyond that, such as other plugins' tools to
 * call or bytes to keep, stands in `request.json`.
 */
import { Failure, ToolPlugin, reply, schema } from "./loopwright/index.js";

const LAMP = schema.object({ level: schema.integer("How bright, from 0 (off) to 255.", { minimum: 0, maximum: 255 }) });

export function setLamp(phone, lamp) {
  const now = phone.require("plugin-name", "main");
  if (now.level === lamp.level) throw Failure.conflict(`the level is ${now.level} already: choose another`);
  phone.put("plugin-name", "main", lamp);
  return reply("the lamp is set", lamp);
}

export function getLamp(phone) {
  return reply("the lamp", phone.require("plugin-name", "main"));
}

const set = {
  domain: "home",
  texts: {
    en: ["Sets how bright the lamp is.", "light, lamp, dim, bright"],
    zh: ["调节台灯亮度。", "台灯 灯 亮度 调亮 调暗"],
  },
  arguments: LAMP,
  result: LAMP,
  effect: "write",
};
const get = {
  domain: "home",
  texts: { en: ["Says how bright the lamp is.", "light, lamp"], zh: ["查询台灯亮度。", "台灯 灯 亮度"] },
  arguments: schema.object(),
  result: LAMP,
  effect: "read",
};

export default new ToolPlugin("plugin-name", "0.1.0")
  .owns("plugin-name", { initial: { main: { level: 0 } } })
  .tool("set_plugin_name", set, setLamp)
  .tool("get_plugin_name", get, getLamp);
