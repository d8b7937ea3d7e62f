/** An environment plugin: the rules of a world. */
import { Failure, Fault } from "./errors.js";
import { Phone, toJson } from "./phone.js";
import { reply } from "./plugin.js";

const lowered = (call) => ({ id: call.id, tool: call.tool, arguments: toJson(call.arguments) });

/** What an environment's functions get: the phone, the installed tools, the user's word and the clock. */
export class Environment extends Phone {
  /** The names of all installed tools, sorted. */
  installed() {
    return this.port.installed();
  }

  /** What a call needs, `{effect, requires, plugin}`; null when there is no such tool. */
  access(call) {
    return this.port.access(lowered(call)) ?? null;
  }

  /** Runs a call; the host records it. A reply, or a Failure: a tool whose code failed answers 503. */
  invoke(call, actor) {
    const { tag, val } = this.port.invoke(lowered(call), actor);
    if (tag === "ok") return reply(val.message, JSON.parse(val.data));
    if (tag === "failed") return new Failure(val.code, val.message, val.data ? JSON.parse(val.data) : null);
    return Failure.unavailable(`\`${call.tool}\` failed`, { fault: `${val.tag}: ${val.val ?? ""}` });
  }

  /** True when the user confirmed exactly this call in this episode. */
  confirmed(call) {
    return this.port.confirmed(lowered(call));
  }

  /** Moves the clock forward, to `{seconds, nanoseconds}`. */
  advanceTo(at) {
    this.port.advanceTo(at);
  }
}

/** The rules of a world: which tools are exposed, whether a call may run, and what follows from it. */
export class EnvironmentPlugin {
  kind = "environment";

  /**
   * `reset(world, setup)` returns an observation `{exposed, notices}`, where no
   * `exposed` means as before, and after a reset all installed tools; `step(world, turn)` returns `{feedback, observation}`, with one
   * feedback `{callId, answer, effects, confirm}` for each call: the answer is a reply or a Failure, which `confirm` turns into a question.
   */
  constructor(name, version, { reset, step, stateful = false }) {
    Object.assign(this, { name, version, reset, step, ext: stateful ? { stateful: true } : {} });
    if (typeof reset !== "function" || typeof step !== "function") throw new Fault("expected the functions reset and step");
  }

  runReset(port, setup) {
    return this.reset(new Environment(port), JSON.parse(setup));
  }

  runStep(port, turn) {
    return this.step(new Environment(port), turn);
  }
}
