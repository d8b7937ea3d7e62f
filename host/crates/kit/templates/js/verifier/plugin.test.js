/** The plugin's code by itself, natively. */
import assert from "node:assert/strict";
import test from "node:test";

import { TestEvidence } from "./loopwright/testing.js";
import plugin from "./plugin.js";

const CHECK = JSON.stringify({ collection: "lamp", key: "main", at: "/level", equals: 40 });

test("the state after the last step decides", () => {
  const states = [0, 40].map((level) => ({ lamp: { main: { level } } }));
  const evidence = new TestEvidence(states, [TestEvidence.call(0, "set_lamp", { level: 40 })]);
  const [before, after] = plugin.run(evidence, CHECK, [0, 1]);
  assert.deepEqual([before.passed, before.score], [false, 0]);
  assert.deepEqual([after.passed, after.score, after.progress], [true, 1, 1]);
});

test("a check that it does not know is no verdict", () => {
  assert.throws(() => plugin.run(new TestEvidence([{}]), "{}", [0]), { kind: "invalid-check" });
});
