/** The SDK by itself: declarations, errors and the fakes of tests. */
import assert from "node:assert/strict";
import test from "node:test";

import { Failure, Fault, Phone, StateError, ToolPlugin, reply, schema, verdictOf } from "../index.js";
import { toJson } from "../phone.js";
import { FakePort, TestPhone } from "../testing.js";

const documents = () => Object.fromEntries([3, 1, 2].map((level) => [`k${level}`, { level, name: `lamp ${level}`, tags: ["a", level] }]));
const phone = () => new Phone(new FakePort({ lamp: documents() }));
const keys = (query) => phone().find("lamp", query).docs.map((doc) => doc.key);

test("every test of a field", () => {
  for (const [clause, expected] of [
    [["/level", "eq", 1], ["k1"]], [["/level", "ne", 1], ["k2", "k3"]], [["/level", "lt", 2], ["k1"]], [["/level", "ge", 2], ["k2", "k3"]],
    [["/level", "gt", "2"], []], [["/level", "one-of", [1, 3]], ["k1", "k3"]], [["/name", "starts-with", "lamp 2"], ["k2"]],
    [["/name", "contains", "p 3"], ["k3"]], [["/tags", "contains", 2], ["k2"]], [["/none", "exists", false], ["k1", "k2", "k3"]],
    [["/none", "ne", 1], ["k1", "k2", "k3"]], [["/none", "eq", 1], []],
  ]) {
    assert.deepEqual(keys({ where: [clause] }), expected, clause.join(" "));
  }
});

test("order, pages and fields", () => {
  assert.deepEqual(keys({ orderBy: [["/level", "desc"]] }), ["k3", "k2", "k1"]);
  const page = phone().find("lamp", { fields: ["/level"], limit: 2 });
  assert.deepEqual([page.docs[0].value, page.total], [{ level: 1 }, 3]);
  assert.equal(phone().findAll("lamp", { limit: 2 }).length, 3);
});

test("a patch merges and needs a document", () => {
  const lamp = phone();
  lamp.patch("lamp", "k1", { name: null, level: 9 });
  assert.deepEqual(lamp.get("lamp", "k1"), { level: 9, tags: ["a", 1] });
  assert.throws(() => lamp.patch("lamp", "none", {}), (error) => error instanceof StateError && error.failure().code === 404);
});

test("what JSON cannot hold is a fault", () => {
  for (const value of [NaN, Infinity, undefined, () => 1, { a: [NaN] }]) assert.throws(() => toJson(value), Fault);
});

function withHandler(handler) {
  const declared = { domain: "d", texts: { en: ["Uses.", "use"] }, arguments: schema.object(), result: schema.any(), effect: "write" };
  return new TestPhone(new ToolPlugin("lamp", "0.1.0").owns("lamp", { initial: { main: 1 } }).tool("use", declared, handler));
}

test("a refusal and a fault leave nothing behind", () => {
  const refusing = withHandler((lamp) => {
    lamp.put("lamp", "main", 2);
    throw Failure.conflict("no", { allowed: [1] });
  });
  assert.throws(() => refusing.call("use"), { code: 409, data: { allowed: [1] } });
  assert.equal(refusing.document("lamp", "main"), 1);
  assert.throws(() => withHandler(() => "no reply").call("use"), Fault);
});

test("another plugin's collection is denied", () => {
  assert.throws(() => withHandler((lamp) => reply("done", lamp.get("other", "x"))).call("use"), { code: 403 });
});

test("declarations that contradict themselves are refused", () => {
  const plugin = new ToolPlugin("lamp", "0.1.0");
  for (const wrong of [{}, { effect: "read", rules: [] }, { effect: "look" }]) assert.throws(() => plugin.tool("use", wrong, reply), TypeError);
});

test("outcome, score and progress of a verdict agree", () => {
  const held = { id: "a", passed: true, heldAtReset: true, reason: "" };
  const [done, open] = [{ id: "b", passed: true, reason: "" }, { id: "c", passed: false, weight: 0, reason: "" }];
  assert.equal(verdictOf([held, done]).score, 1);
  const below = verdictOf([held, done, open]);
  assert.ok(!below.passed && below.score < 1);
  assert.deepEqual([verdictOf([]).passed, verdictOf([]).progress], [false, 0]);
});
