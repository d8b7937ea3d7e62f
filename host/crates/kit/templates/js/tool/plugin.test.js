/** The plugin's code by itself, natively. */
import assert from "node:assert/strict";
import test from "node:test";

import { TestPhone } from "./loopwright/testing.js";
import plugin from "./plugin.js";

test("what is set is what is got", () => {
  const phone = new TestPhone(plugin);
  phone.call("set_plugin_name", { level: 40 });
  assert.deepEqual(phone.call("get_plugin_name").data, { level: 40 });
});

test("the same level again is refused", () => {
  const phone = new TestPhone(plugin);
  assert.throws(() => phone.call("set_plugin_name", { level: 0 }), { code: 409 });
  assert.deepEqual(phone.document("plugin-name", "main"), { level: 0 });
});
