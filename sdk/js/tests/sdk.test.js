/** The SDK by itself: declarations, errors and the fakes of tests. */
import assert from "node:assert/strict";
import test from "node:test";

import { CallError, Failure, Fault, Phone, ScratchError, StateError, ToolPlugin, reply, schema, verdictOf } from "../index.js";
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

test("bytes are kept as they are within the quota", () => {
  const every = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  const granted = new TestPhone(null, {}, { scratchBytes: 64 + 5 + 256 });
  const { scratch } = granted.phone();
  // What is replaced counts no more.
  for (let times = 0; times < 2; times += 1) scratch.put("bytes", every);
  assert.deepEqual([scratch.get("bytes"), scratch.get("none"), granted.kept("bytes")], [every, null, every]);
  const full = (error) => error instanceof ScratchError && error.failure().code === 429;
  assert.throws(() => scratch.put("bytes", new Uint8Array(257)), { detail: "at most 325 bytes allowed, found 326" });
  assert.throws(() => scratch.put("bytes", new Uint8Array(257)), full);
  for (const key of ["", "é".repeat(129)]) {
    assert.throws(() => scratch.put(key, every), (error) => error.kind === "invalid" && error.failure() === null);
  }
  assert.deepEqual(scratch.keys(), ["bytes"]);
  assert.deepEqual([scratch.delete("bytes"), scratch.delete("bytes"), scratch.keys()], [true, false, []]);
  scratch.putJson("n", { n: "é%灯😀" });
  assert.deepEqual(scratch.get("n"), new Uint8Array(Buffer.from('{"n":"é%灯😀"}')));
  assert.deepEqual([scratch.getJson("n"), scratch.getJson("m")], [{ n: "é%灯😀" }, null]);
  scratch.put("n", Uint8Array.of(0xff));
  assert.throws(() => scratch.getJson("n"), Fault);
  assert.throws(() => scratch.put("n", "text"), Fault);
  assert.throws(() => scratch.putJson("n", NaN), Fault);
  assert.throws(() => new TestPhone().phone().scratch.put("k", Uint8Array.of()), ScratchError);
});

test("what a call came to is told apart", () => {
  const refused = Failure.conflict("taken", { allowed: [1] });
  const told = [reply("done", { id: 1 }), refused, new CallError("denied", "busy"), new CallError("faulted", "fuel")];
  const granted = new TestPhone(null, {}, { answers: { add_event: told } });
  const caller = granted.phone();
  assert.deepEqual(caller.callTool("add_event", { title: "tea" }), { message: "done", data: { id: 1 } });
  for (const [kind, code] of [["failed", 409], ["denied", 403], ["faulted", 503]]) {
    assert.throws(() => caller.callTool("add_event"), (error) => error.kind === kind && error.failure().code === code);
  }
  assert.throws(() => caller.callTool("other"), { kind: "denied", detail: "tool `other` is not granted" });
  assert.throws(() => caller.callTool("add_event"), /once more/);
  assert.throws(() => caller.callTool("add_event", [1]), Fault);
  assert.deepEqual(granted.called()[0], ["add_event", { title: "tea" }]);
});

test("a refusal that passes is the handler's and leaves nothing behind", () => {
  const declared = { domain: "d", texts: { en: ["Uses.", "use"] }, arguments: schema.object(), result: schema.any(), effect: "write" };
  const plugin = new ToolPlugin("diary", "0.1.0").owns("diary").tool("use", declared, (diary) => {
    diary.scratch.put("last", Uint8Array.of(1));
    diary.put("diary", "last", 1);
    return diary.callTool("add_event");
  });
  const answers = { add_event: [Failure.conflict("taken", { allowed: [1] }), reply("done", 2)] };
  const granted = new TestPhone(plugin, {}, { scratchBytes: 100, answers });
  assert.throws(() => granted.call("use"), { code: 409, data: { allowed: [1] } });
  assert.deepEqual([granted.kept("last"), granted.document("diary", "last")], [null, undefined]);
  assert.deepEqual(granted.call("use"), { message: "done", data: 2 });
  assert.deepEqual([granted.kept("last"), granted.document("diary", "last")], [Uint8Array.of(1), 1]);
});

test("what the request does not ask for is not there", () => {
  const plain = new Phone(new FakePort({}));
  for (const wrong of [() => plain.callTool("add_event"), () => plain.scratch]) assert.throws(wrong, /request.json/);
});

test("outcome, score and progress of a verdict agree", () => {
  const held = { id: "a", passed: true, heldAtReset: true, reason: "" };
  const [done, open] = [{ id: "b", passed: true, reason: "" }, { id: "c", passed: false, weight: 0, reason: "" }];
  assert.equal(verdictOf([held, done]).score, 1);
  const below = verdictOf([held, done, open]);
  assert.ok(!below.passed && below.score < 1);
  assert.deepEqual([verdictOf([]).passed, verdictOf([]).progress], [false, 0]);
});
