/** A verifier plugin: it judges what happened, and sees nothing else. */
import { Fault, JudgeError, StateError } from "./errors.js";
import { PhoneView } from "./phone.js";

const PAGE = 256;
/** The largest double below one: what a verdict that fails can score at most. */
const BELOW_PASS = 1 - 2 ** -53;

const parsed = (text) => (text === null || text === undefined ? null : JSON.parse(text));

/** All state at one moment. It holds a handle of the host: give it back with `close`. */
export class Snapshot extends PhoneView {
  /** The names of all collections, sorted. */
  collections() {
    return this.port.collections();
  }

  /** 32 bytes: equal digests mean equal documents. */
  digest() {
    return this.port.digest();
  }

  /** Gives the handle back. */
  close() {
    this.port.close();
  }
}

/** What happened, as the host recorded it. */
export class Evidence {
  constructor(port) {
    this.port = port;
  }

  /** State when the episode began. */
  initial() {
    return new Snapshot(this.port.initial());
  }

  /** State after the first `count` steps; null when there were fewer. */
  after(count) {
    const found = this.port.after(count);
    return found ? new Snapshot(found) : null;
  }

  /** State that the task's gold actions lead to, where the task has gold. */
  target() {
    const found = this.port.target();
    return found ? new Snapshot(found) : null;
  }

  /** All documents that differ from `a` to `b`, by collection and key: `{collection, key, before, after}`. */
  changes(a, b, { bookkeeping = false } = {}) {
    const changes = [];
    for (let cursor = 0; cursor !== null; ) {
      const [page, next] = this.port.changes(a.port, b.port, bookkeeping, cursor, PAGE);
      changes.push(...page.map((each) => ({ ...each, before: parsed(each.before), after: parsed(each.after) })));
      cursor = next ?? null;
    }
    return changes;
  }

  /** Why they are not the same, at most 16 lines; empty when they are. */
  differences(a, b, except = []) {
    return this.port.differences(a.port, b.port, except);
  }

  /** How many steps there are. */
  stepCount() {
    return this.port.stepCount();
  }

  /** Steps from `start` to before `end`: `{index, turn, at, by, kind, action, ok, answer}`, where a call's action is the call. */
  steps(start = 0, end = this.stepCount()) {
    const steps = [];
    while (start + steps.length < end) {
      const page = this.port.steps(start + steps.length, Math.min(PAGE, end - start - steps.length));
      if (page.length === 0) break;
      steps.push(...page);
    }
    return steps;
  }

  /** One line for the plugin's author. */
  log(message, level = "info") {
    this.port.log(level, message);
  }
}

/**
 * A verdict from its criteria `{id, passed, reason, heldAtReset, weight}`, so that outcome, score and progress agree. It passes exactly when
 * every criterion holds; progress leaves out what already held at reset.
 */
export function verdictOf(criteria) {
  const all = criteria.map((each) => ({ heldAtReset: false, weight: 1, ...each }));
  const passed = all.length > 0 && all.every((each) => each.passed);
  const progress = share(all.filter((each) => !each.heldAtReset)) ?? Number(passed);
  const score = passed ? 1 : Math.min(share(all) ?? 0, BELOW_PASS);
  return { passed, score, progress, criteria: all };
}

function share(criteria) {
  const sum = (some) => some.reduce((total, each) => total + each.weight, 0);
  const total = sum(criteria);
  return total > 0 ? sum(criteria.filter((each) => each.passed)) / total : null;
}

/** Judges what happened. `judge(evidence, check, upto)` is asked once for each prefix: `upto` is its number of steps. */
export class VerifierPlugin {
  kind = "verifier";
  ext = {};

  constructor(name, version, { judge }) {
    Object.assign(this, { name, version, judge });
    if (typeof judge !== "function") throw new Fault("expected the function judge");
  }

  /** Judges each prefix. Throws JudgeError where there is no verdict. */
  run(port, check, upto) {
    const evidence = new Evidence(port);
    try {
      return [...upto].map((count) => this.judge(evidence, JSON.parse(check), count));
    } catch (error) {
      if (!(error instanceof StateError)) throw error;
      const kind = ["invalid", "denied", "limit"].includes(error.kind) ? "invalid-check" : "other";
      throw new JudgeError(kind, error.message);
    }
  }
}
