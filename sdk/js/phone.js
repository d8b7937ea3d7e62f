/** State, time, randomness, ids and log, as a plugin reaches them. A port does the work: the host's in a component, a fake in tests. */
import { Fault } from "./errors.js";

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

/** What a tool's handler gets. A call is a transaction: an exception rolls its writes back. */
export class Phone extends PhoneView {
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
