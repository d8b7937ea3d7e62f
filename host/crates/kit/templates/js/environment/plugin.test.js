/** The plugin's code by itself, natively. */
import assert from "node:assert/strict";
import test from "node:test";

import { reply } from "./loopwright/index.js";
import { TestWorld } from "./loopwright/testing.js";
import plugin from "./plugin.js";

const around = {
  tools: { look: () => reply("seen", 1), wipe: () => reply("gone") },
  needs: { wipe: { effect: "destructive" } },
};

test("a read runs and what cannot be undone waits", () => {
  const world = new TestWorld(plugin, around);
  assert.deepEqual(world.reset(), {});
  const { feedback } = world.step([["look", {}], ["wipe", {}], ["none", {}]]);
  assert.deepEqual(feedback[0].answer, reply("seen", 1));
  assert.equal(feedback[1].confirm, true);
  assert.equal(feedback[2].answer.code, 404);
});

test("a confirmed call runs", () => {
  const world = new TestWorld(plugin, around);
  world.confirmedCalls.push(["wipe", {}]);
  assert.deepEqual(world.step([["wipe", {}]]).feedback[0].answer, reply("gone"));
});
