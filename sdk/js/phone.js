/**
 * State, time, randomness, ids, log and granted capabilities, as a plugin reaches them. A port does the work: the host's in a component, a
 * fake in tests.
 */
import { Fault } from "./errors.js";
import { toBytes, toText } from "./utf8.js";

/** JSON text. What JSON cannot hold is a fault of the plugin, not a silent `null`. */
export function toJson(value) {
  const text = JSON.stringify(value, (key, inner) => {
    if (typeof inner === "number" && !Number.isFinite(inner)) throw new Fault(`\`${key}\` is ${inner}, which JSON cannot hold`);
    // JSON.stringify writes -0 as 0; the two compare equal in the contract.
    return inner;
  });
  if (text === undefined) throw new Fault(`a ${typeof value} has no JSON form`);
  return text;
}

const parsed = (text) => (text === null || text === undefined ? null : JSON.parse(text));

/** State to read, and the log. */
export class PhoneView {
  constructor(port) {
    this.port = port;
  }

  /** One document, or null. */
  get(collection, key) {
    return parsed(this.port.get(collection, key));
  }

  /** Several documents, by pairs of collection and key, in the same order. At most 256. */
  getMany(keys) {
    return this.port.getMany(keys).map(parsed);
  }

  /** A document that the plugin's own data always holds; its absence is a fault. */
  require(collection, key) {
    const value = this.get(collection, key);
    if (value === null) throw new Fault(`document \`${collection}/${key}\` is missing`);
    return value;
  }

  /**
   * The documents that match: `{docs: [{key, value}], next, total}`. A condition in `where` is `[pointer, test, value]`, with a test out of
   * `eq ne lt le gt ge one-of contains starts-with exists`; a sort key in `orderBy` is a pointer, or `[pointer, "desc"]`.
   */
  find(collection, { where = [], orderBy = [], fields = [], limit = 0, cursor = null } = {}) {
    const operand = (test, value) => {
      if (test === "one-of") return value.map(toJson);
      return test === "starts-with" || test === "exists" ? value : toJson(value);
    };
    const query = {
      where: where.map(([at, test, value]) => ({ at, test: { tag: test, val: operand(test, value) } })),
      orderBy: orderBy.map((key) => (typeof key === "string" ? [key] : key)).map(([at, way]) => ({ at, descending: way === "desc" })),
      fields,
      limit,
      cursor,
    };
    const page = this.port.find(collection, query);
    return { docs: page.docs.map((doc) => ({ key: doc.key, value: JSON.parse(doc.value) })), next: page.next ?? null, total: page.total };
  }

  /** All documents that match, page by page. */
  findAll(collection, query = {}) {
    const docs = [];
    for (let cursor = null; ; ) {
      const page = this.find(collection, { ...query, cursor });
      docs.push(...page.docs);
      if (page.next === null) return docs;
      cursor = page.next;
    }
  }

  /** One line for the plugin's author: `debug`, `info`, `warn` or `error`. Planners never see it. */
  log(message, level = "info") {
    this.port.log(level, message);
  }
}

/**
 * Bytes that a tool plugin keeps from call to call of an episode. Nobody else reads them, they are no part of the world, and a call that
 * fails leaves no write behind. A key has 1 to 256 bytes; an entry counts its key, its value and 64 bytes against the quota.
 */
export class Scratch {
  constructor(port) {
    this.port = port;
  }

  /** What is kept under a key, a Uint8Array, or null. */
  get(key) {
    return this.port.scratchGet(key);
  }

  /** Keeps a Uint8Array under a key; throws ScratchError beyond the quota. */
  put(key, value) {
    if (!(value instanceof Uint8Array)) throw new Fault("scratch keeps a Uint8Array: putJson keeps other values");
    this.port.scratchPut(key, value);
  }

  /** Removes what is kept under a key; says whether there was something. */
  delete(key) {
    return this.port.scratchDelete(key);
  }

  /** The keys, sorted. */
  keys() {
    return this.port.scratchKeys();
  }

  /** What `putJson` kept under a key, or null. */
  getJson(key) {
    const kept = this.get(key);
    if (kept === null) return null;
    try {
      return JSON.parse(toText(kept));
    } catch (error) {
      throw new Fault(`scratch \`${key}\` holds no JSON: ${error.message}`);
    }
  }

  /** Keeps a value as JSON text. */
  putJson(key, value) {
    this.put(key, toBytes(toJson(value)));
  }
}

/** What a tool's handler gets. A call is a transaction: an exception rolls its writes back. */
export class Phone extends PhoneView {
  /**
   * Calls a tool of another plugin within the running call: when this one fails, its writes are gone too. A reply `{message, data}`; throws
   * CallError, which says apart what the tool refused, what the host denied and code that failed. `request.json` asks for the tool:
   * `{"capability": "tool.call", "tools": ["add_event"]}`.
   */
  callTool(name, args = {}) {
    this.#askedFor("callTool", "tool.call");
    const { message, data } = this.port.callTool(name, toJson(args));
    return { message, data: JSON.parse(data) };
  }

  /** Bytes that the plugin keeps. `request.json` asks for a quota: `{"capability": "scratch", "bytes": 65536}`. */
  get scratch() {
    this.#askedFor("scratchGet", "scratch");
    return new Scratch(this.port);
  }

  /** A component has a capability's functions only when its request asks for it. */
  #askedFor(name, capability) {
    if (this.port[name]) return;
    throw new Fault(`there is no \`${capability}\`: add the capability to request.json and build again`);
  }

  /** Creates or replaces a document. */
  put(collection, key, value) {
    this.port.put(collection, key, toJson(value));
  }

  /** Merges into an existing document (RFC 7396: null removes a field). */
  patch(collection, key, merge) {
    this.port.patch(collection, key, toJson(merge));
  }

  /** Removes a document; says whether there was one. */
  delete(collection, key) {
    return this.port.delete(collection, key);
  }

  /** The episode's time since 1970-01-01T00:00:00Z: `{seconds, nanoseconds}`. It stands still within a turn. */
  now() {
    return this.port.now();
  }

  /** The episode's time in milliseconds, as `Date` takes it. */
  nowMs() {
    const { seconds, nanoseconds } = this.now();
    return seconds * 1000 + Math.floor(nanoseconds / 1e6);
  }

  /** The phone's time zone, an IANA name. */
  zone() {
    return this.port.zone();
  }

  /** The zone's offset from UTC at a moment, in seconds, east positive. */
  offsetS(at = this.now()) {
    return this.port.offsetS(at);
  }

  /** The next 64 bits of the plugin's own seeded stream, a BigInt. `Math.random` is the same in every episode. */
  random() {
    const [high, low] = this.port.randomBits();
    return (BigInt(high) << 32n) | BigInt(low);
  }

  /** The next id of a counter, such as `note-0001`. */
  nextId(prefix) {
    return this.port.nextId(prefix);
  }
}
