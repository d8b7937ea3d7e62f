/** Keeps bytes and calls other plugins' tools, as `src/lib.rs` does. */
import { CallError, Failure, ToolPlugin, reply, schema } from "./loopwright/index.js";

const KEY = { key: schema.string() };
const KEEP = schema.object({ ...KEY, bytes: schema.array(schema.integer(undefined, { minimum: 0, maximum: 255 })) });
const CALL = schema.object({ tool: schema.string(), arguments: schema.any() });

const plugin = new ToolPlugin("caller-js", "0.1.0");

function tool(name, args, handler) {
  const texts = { en: [`The tool ${name}.`, name] };
  plugin.tool(name, { domain: "test", texts, arguments: args, result: schema.any(), effect: "write" }, handler);
}

tool("keep", KEEP, ({ scratch }, { key, bytes }) => {
  scratch.put(key, Uint8Array.from(bytes));
  return reply("kept", { keys: scratch.keys() });
});

tool("lose", KEEP, ({ scratch }, { key, bytes }) => {
  scratch.put(key, Uint8Array.from(bytes));
  throw Failure.conflict("lost: keep it");
});

tool("recall", schema.object(KEY), ({ scratch }, { key }) => {
  const kept = scratch.get(key);
  return reply("recalled", { bytes: kept === null ? null : [...kept] });
});

tool("forget", schema.object(KEY), ({ scratch }, { key }) => reply("forgotten", { there: scratch.delete(key) }));

tool("count", schema.object(), ({ scratch }) => {
  const count = (scratch.getJson("count") ?? 0) + 1;
  scratch.putJson("count", count);
  return reply("counted", { count });
});

tool("try_call", CALL, (phone, asked) => {
  try {
    const { message, data } = phone.callTool(asked.tool, asked.arguments);
    return reply("called", { came: "done", message, data });
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    if (error.kind !== "failed") return reply("called", { came: error.kind, what: error.detail });
    const { code, message, data } = error.refused;
    return reply("called", { came: "failed", code, message, data });
  }
});

tool("pass_call", CALL, (phone, asked) => phone.callTool(asked.tool, asked.arguments));

export default plugin;
