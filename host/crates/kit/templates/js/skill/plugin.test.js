/** The plugin's code by itself, natively. */
import assert from "node:assert/strict";
import test from "node:test";

import { TestPhone } from "./loopwright/testing.js";
import plugin from "./plugin.js";

test("turning Wi-Fi off is warned of and asking is not", () => {
  for (const [action, expected] of [["disable", "warn"], ["query", "allow"]]) {
    const call = { id: "c1", tool: "manage_wifi", arguments: { action } };
    assert.equal(plugin.runCheck(new TestPhone().port, call).tag, expected);
  }
});

test("rules about absent tools disappear", () => {
  assert.equal(plugin.guidance([], "en"), "");
  assert.match(plugin.guidance(["manage_wifi"], "zh"), /Wi-Fi/);
});
