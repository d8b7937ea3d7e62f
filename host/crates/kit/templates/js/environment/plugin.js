/** A world with one rule: what cannot be undone waits for the user's confirmation of exactly that call. */
import { EnvironmentPlugin, Failure } from "./loopwright/index.js";

function reset() {
  return {};
}

function step(world, turn) {
  const feedback = turn.calls.map((call) => ({ callId: call.id, ...answer(world, call, turn.actor) }));
  return { feedback, observation: {} };
}

function answer(world, call, actor) {
  const needs = world.access(call);
  if (!needs) return { answer: Failure.notFound(`there is no tool \`${call.tool}\``) };
  if (needs.effect === "destructive" && !world.confirmed(call)) {
    const why = `${call.tool} cannot be undone: ask the user, then repeat the same call`;
    return { answer: Failure.locked(why), confirm: true };
  }
  return { answer: world.invoke(call, actor) };
}

export default new EnvironmentPlugin("plugin-name", "0.1.0", { reset, step });
