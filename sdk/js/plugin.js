/** A tool plugin: what it declares, and how a call finds its handler. */
import { Failure, Fault } from "./errors.js";
import { Phone, toJson } from "./phone.js";

const EFFECTS = ["read", "write", "destructive"];

/** A call that did what was asked: a sentence for people, and data that conforms to the tool's result schema. */
export function reply(message, data = null) {
  return { message, data };
}

/** The tools of one app. It keeps nothing between calls: data lives in the collections that it owns. */
export class ToolPlugin {
  kind = "tool";
  tools = new Map();
  collections = [];
  uses = [];

  constructor(name, version, { world } = {}) {
    this.name = name;
    this.version = version;
    this.ext = world ? { world } : {};
  }

  /** Declares a collection with the documents of a fresh phone. Checks ignore the fields that `bookkeeping` points at. */
  owns(name, { initial = {}, schema = null, bookkeeping = [], indexes = [] } = {}) {
    this.collections.push({ name, initial, schema, bookkeeping, indexes });
    return this;
  }

  /** Asks to touch another plugin's collection. The operator's grant decides. */
  asksFor(name, { write = false } = {}) {
    this.uses.push({ name, write });
    return this;
  }

  /**
   * Declares a tool: `{domain, texts: {en: [description, keywords]}, arguments, result, effect | rules, requires}` and its handler
   * `(phone, arguments) => reply(message, data)`. A rule is `{argument, oneOf, effect, requires}`; the last has no argument.
   */
  tool(name, declared, handler) {
    const { effect, rules, requires = [] } = declared;
    if ((effect === undefined) === (rules === undefined)) throw new TypeError(`tool \`${name}\`: expected either effect or rules`);
    const all = rules ?? [{ effect, requires }];
    const wrong = all.find((rule) => !EFFECTS.includes(rule.effect));
    if (wrong) throw new TypeError(`tool \`${name}\`: effect is \`${wrong.effect}\`, expected one of ${EFFECTS.join(", ")}`);
    if (this.tools.has(name)) throw new TypeError(`tool \`${name}\` is declared twice`);
    this.tools.set(name, { ...declared, rules: all, handler });
    return this;
  }

  /** Runs a call: `{message, data}` with the data as JSON text. Throws what the handler threw. */
  call(port, name, text) {
    const tool = this.tools.get(name);
    if (!tool) throw Failure.notFound(`no tool \`${name}\``, { allowed: [...this.tools.keys()].sort() });
    const answer = tool.handler(new Phone(port), JSON.parse(text));
    if (typeof answer?.message !== "string") throw new Fault(`tool \`${name}\` returned no reply(message, data)`);
    return { message: answer.message, data: toJson(answer.data ?? null) };
  }
}
