/**
 * Stands in for the host in an author's own tests, which then run natively: `node --test`.
 *
 * It holds documents in memory and keeps the contract's transactions. It does not check arguments against their schema, grants of the
 * operator or limits: those are the host's, and `loopwright plugin test` runs the component under it.
 */
import { CallError, Failure, Fault, ScratchError, StateError, refusal } from "./errors.js";
import { Phone, PhoneView } from "./phone.js";
import { toBytes } from "./utf8.js";
import { Evidence } from "./verifier.js";

/** 2026-01-01T00:00:00Z. */
const BEGIN_S = 1767225600;
const MASK = (1n << 64n) - 1n;
/** Of a key in scratch, and what an entry counts beside its key and value, as on the host. */
const KEY_BYTES_MAX = 256;
const ENTRY_BYTES = 64;

const kind = (value) => (value === null ? "null" : Array.isArray(value) ? "array" : typeof value);

/** Equality of JSON values. */
export function equal(a, b) {
  if (kind(a) !== kind(b)) return false;
  if (kind(a) === "array") return a.length === b.length && a.every((each, index) => equal(each, b[index]));
  if (kind(a) !== "object") return a === b;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && equal(a[key], b[key]));
}

/** The field that a pointer (RFC 6901) names; undefined where there is none. */
function field(document, pointer) {
  let found = document;
  for (const part of pointer.split("/").slice(1)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (found === null || typeof found !== "object" || !Object.hasOwn(found, name)) return undefined;
    found = found[name];
  }
  return found;
}

function holds(document, { at, test: { tag, val } }) {
  const found = field(document, at);
  if (tag === "exists") return (found !== undefined) === val;
  if (tag === "starts-with") return typeof found === "string" && found.startsWith(val);
  if (tag === "one-of") return found !== undefined && val.some((each) => equal(found, JSON.parse(each)));
  const value = JSON.parse(val);
  if (tag === "eq" || tag === "ne") return (found !== undefined && equal(found, value)) === (tag === "eq");
  if (tag === "contains") {
    if (typeof found === "string") return typeof value === "string" && found.includes(value);
    return Array.isArray(found) && found.some((each) => equal(each, value));
  }
  if (typeof found !== typeof value || !["number", "string"].includes(typeof value)) return false;
  return { lt: found < value, le: found <= value, gt: found > value, ge: found >= value }[tag];
}

const RANK = ["undefined", "null", "boolean", "number", "string"];

function compared(a, b) {
  const [left, right] = [a, b].map((value) => (value === undefined ? 0 : RANK.indexOf(kind(value)) + 1 || 9));
  if (left !== right) return left - right;
  return a < b ? -1 : a > b ? 1 : 0;
}

function merged(document, merge) {
  if (kind(merge) !== "object") return merge;
  const result = kind(document) === "object" ? { ...document } : {};
  for (const [key, value] of Object.entries(merge)) {
    if (value === null) delete result[key];
    else result[key] = merged(result[key], value);
  }
  return result;
}

/** The imports, over documents in memory: `{collection: {key: document}}`. */
export class FakePort {
  logLines = [];
  seconds = BEGIN_S;
  bits = 0n;
  ids = {};

  constructor(documents, granted = null) {
    this.documents = documents;
    this.granted = granted;
  }

  collection(name) {
    if (this.granted && !this.granted.has(name)) throw new StateError("denied", name);
    return (this.documents[name] ??= {});
  }

  get(collection, key) {
    const value = this.collection(collection)[key];
    return value === undefined ? null : JSON.stringify(value);
  }

  getMany(keys) {
    return keys.map(([collection, key]) => this.get(collection, key));
  }

  find(collection, { where, orderBy, fields, limit, cursor }) {
    const found = Object.entries(this.collection(collection)).filter(([, value]) => where.every((clause) => holds(value, clause)));
    found.sort(([a], [b]) => (a < b ? -1 : 1));
    for (const { at, descending } of [...orderBy].reverse()) {
      found.sort(([, a], [, b]) => (descending ? -1 : 1) * compared(field(a, at), field(b, at)));
    }
    const start = Number(cursor ?? 0);
    const end = start + (limit || 256);
    const docs = found.slice(start, end).map(([key, value]) => ({ key, value: JSON.stringify(shown(value, fields)) }));
    return { docs, next: end < found.length ? String(end) : null, total: found.length };
  }

  put(collection, key, text) {
    this.collection(collection)[key] = JSON.parse(text);
  }

  patch(collection, key, text) {
    const documents = this.collection(collection);
    if (!Object.hasOwn(documents, key)) throw new StateError("not-found");
    documents[key] = merged(documents[key], JSON.parse(text));
  }

  delete(collection, key) {
    const documents = this.collection(collection);
    const there = Object.hasOwn(documents, key);
    delete documents[key];
    return there;
  }

  now() {
    return { seconds: this.seconds, nanoseconds: 0 };
  }

  zone() {
    return "UTC";
  }

  offsetS() {
    return 0;
  }

  /** SplitMix64: not the host's stream, but the same numbers in every run. */
  randomBits() {
    this.bits = (this.bits + 0x9e3779b97f4a7c15n) & MASK;
    let mixed = ((this.bits ^ (this.bits >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
    mixed = ((mixed ^ (mixed >> 27n)) * 0x94d049bb133111ebn) & MASK;
    mixed ^= mixed >> 31n;
    return [Number(mixed >> 32n), Number(mixed & 0xffffffffn)];
  }

  nextId(prefix) {
    this.ids[prefix] = (this.ids[prefix] ?? 0) + 1;
    return `${prefix}-${String(this.ids[prefix]).padStart(4, "0")}`;
  }

  log(level, message) {
    this.logLines.push([level, message]);
  }
}

function shown(document, fields) {
  if (fields.length === 0) return document;
  const result = {};
  for (const pointer of fields) {
    const value = field(document, pointer);
    if (value === undefined) continue;
    const parts = pointer.split("/").slice(1);
    const last = parts.pop();
    parts.reduce((place, part) => (place[part] ??= {}), result)[last] = value;
  }
  return result;
}

/** The imports of a tool plugin with every capability: scratch within a quota, and scripted answers of other tools. */
export class ToolFakePort extends FakePort {
  kept = new Map();
  called = [];

  constructor(documents, granted, { scratchBytes = 0, answers = {} } = {}) {
    super(documents, granted);
    this.quota = scratchBytes;
    this.answers = new Map(Object.entries(answers).map(([name, each]) => [name, [...each]]));
  }

  callTool(name, text) {
    const args = JSON.parse(text);
    if (kind(args) !== "object") throw new Fault(`the arguments of \`${name}\` are no object: the host traps here`);
    this.called.push([name, args]);
    const answers = this.answers.get(name);
    if (!answers) throw new CallError("denied", `tool \`${name}\` is not granted`);
    if (answers.length === 0) throw new Error(`\`${name}\` is called once more than there are answers`);
    const answer = answers.shift();
    if (answer instanceof Failure) throw new CallError("failed", answer.message, answer);
    if (answer instanceof CallError) throw answer;
    return { message: answer.message, data: JSON.stringify(answer.data ?? null) };
  }

  scratchGet(key) {
    return this.kept.get(key) ?? null;
  }

  scratchPut(key, value) {
    const { length } = toBytes(key);
    if (length < 1 || length > KEY_BYTES_MAX) {
      throw new ScratchError("invalid", `key: expected 1 to ${KEY_BYTES_MAX} bytes, found ${length}`);
    }
    const entries = [...new Map(this.kept).set(key, value)];
    const found = entries.reduce((sum, [each, bytes]) => sum + ENTRY_BYTES + toBytes(each).length + bytes.length, 0);
    if (found > this.quota) throw new ScratchError("quota", `at most ${this.quota} bytes allowed, found ${found}`);
    this.kept.set(key, value.slice());
  }

  scratchDelete(key) {
    return this.kept.delete(key);
  }

  scratchKeys() {
    return [...this.kept.keys()].sort();
  }
}

/**
 * A phone with one tool plugin: its collections with their initial documents, and `state` over them. It is granted `scratchBytes` of
 * scratch and `answers`, those of other plugins' tools, by name and one call after the other: a reply, a Failure, or a CallError; a tool
 * without answers is denied.
 */
export class TestPhone {
  constructor(plugin = null, state = {}, granted = {}) {
    this.plugin = plugin;
    const documents = Object.fromEntries((plugin?.collections ?? []).map(({ name, initial }) => [name, structuredClone(initial)]));
    for (const [name, more] of Object.entries(state)) documents[name] = { ...documents[name], ...structuredClone(more) };
    const collections = plugin?.collections ? new Set([...plugin.collections, ...plugin.uses].map(({ name }) => name)) : null;
    this.port = new ToolFakePort(documents, collections, granted);
  }

  /** Calls a tool as a transaction: `{message, data}`; throws Failure for a refusal. */
  call(name, args = {}) {
    const before = { documents: structuredClone(this.port.documents), kept: new Map(this.port.kept) };
    try {
      const { message, data } = this.plugin.call(this.port, name, JSON.stringify(args));
      return { message, data: JSON.parse(data) };
    } catch (error) {
      Object.assign(this.port, before);
      throw refusal(error);
    }
  }

  /** State to read, as a skill's check gets it. */
  view() {
    return new PhoneView(this.port);
  }

  /** The phone, as a handler gets it. */
  phone() {
    return new Phone(this.port);
  }

  /** A document as it stands, or undefined. */
  document(collection, key) {
    return this.port.documents[collection]?.[key];
  }

  /** What the plugin keeps in its scratch, a Uint8Array, or null. */
  kept(key) {
    return this.port.scratchGet(key);
  }

  /** The calls of other plugins' tools so far, pairs of tool and arguments. */
  called() {
    return [...this.port.called];
  }
}

/** What stands around an environment: installed tools as functions `(arguments) => reply(...)`, and the user's word. */
export class TestWorld extends FakePort {
  confirmedCalls = [];

  constructor(plugin, { tools = {}, state = {}, needs = {} } = {}) {
    super(structuredClone(state));
    Object.assign(this, { plugin, tools, needs });
  }

  /** Starts an episode. */
  reset(setup = {}) {
    return this.plugin.runReset(this, JSON.stringify(setup));
  }

  /** Runs one turn of pairs of tool and arguments. */
  step(calls, actor = "agent") {
    const made = calls.map(([tool, args], index) => ({ id: `c${index + 1}`, tool, arguments: args }));
    return this.plugin.runStep(this, { actor, calls: made });
  }

  installed() {
    return Object.keys(this.tools).sort();
  }

  access({ tool }) {
    return tool in this.tools ? { effect: "read", requires: [], plugin: "test", ...this.needs[tool] } : null;
  }

  invoke(call) {
    try {
      const { message, data } = this.tools[call.tool](JSON.parse(call.arguments));
      return { tag: "ok", val: { message, data: JSON.stringify(data) } };
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const data = error.data ? JSON.stringify(error.data) : null;
      return { tag: "failed", val: { code: error.code, message: error.message, data } };
    }
  }

  confirmed(call) {
    return this.confirmedCalls.some(([tool, args]) => tool === call.tool && equal(args, JSON.parse(call.arguments)));
  }

  advanceTo({ seconds }) {
    if (seconds < this.seconds) throw new Fault("the clock cannot go back");
    this.seconds = seconds;
  }
}

/** Evidence from states and steps: `states[n]` is the state after n steps. */
export class TestEvidence {
  logLines = [];

  constructor(states, steps = [], target = null) {
    Object.assign(this, { states, recorded: steps, gold: target });
  }

  /** A step that called a tool. */
  static call(index, tool, args, { ok = true, answer = null } = {}) {
    const action = { id: `c${index}`, tool, arguments: args };
    return { index, turn: index, at: { seconds: BEGIN_S + index, nanoseconds: 0 }, by: "agent", kind: "call", action, ok, answer };
  }

  /** A step that finished with a claim. */
  static finish(index, answer) {
    return { ...TestEvidence.call(index, "", {}), kind: "finish", action: { answer } };
  }

  /** The evidence, as a verifier gets it. */
  evidence() {
    return new Evidence(this);
  }

  initial() {
    return new FakeSnapshot(this.states[0]);
  }

  after(count) {
    return count < this.states.length ? new FakeSnapshot(this.states[count]) : null;
  }

  target() {
    return this.gold ? new FakeSnapshot(this.gold) : null;
  }

  changes(a, b) {
    const places = new Map();
    for (const { documents } of [a, b]) {
      for (const [name, keys] of Object.entries(documents)) for (const key of Object.keys(keys)) places.set(`${name}\n${key}`, [name, key]);
    }
    const text = (value) => (value === undefined ? null : JSON.stringify(value));
    const all = [...places.keys()].sort().map((place) => {
      const [collection, key] = places.get(place);
      return { collection, key, before: text(a.documents[collection]?.[key]), after: text(b.documents[collection]?.[key]) };
    });
    return [all.filter(({ before, after }) => before !== after), null];
  }

  differences(a, b, except) {
    const [changes] = this.changes(a, b);
    return changes.filter(({ collection }) => !except.includes(collection)).map(({ collection, key }) => `${collection}/${key} differs`);
  }

  stepCount() {
    return this.recorded.length;
  }

  steps(start, limit) {
    return this.recorded.slice(start, start + limit);
  }

  log(level, message) {
    this.logLines.push([level, message]);
  }
}

class FakeSnapshot extends FakePort {
  collections() {
    return Object.keys(this.documents).sort();
  }

  digest() {
    return new Uint8Array(32);
  }

  close() {}
}
