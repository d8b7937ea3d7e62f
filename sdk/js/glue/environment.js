/** The exports of an environment plugin, and the further imports of its world. */
import clockControl from "loopwright:afv/clock-control@0.1.0";
import consent from "loopwright:afv/consent@0.1.0";
import tools from "loopwright:afv/tools@0.1.0";
import { Failure } from "../errors.js";
import { toJson } from "../phone.js";
import { failed, guarded, identity } from "./common.js";
import { port } from "./port.js";

const environmentPort = {
  ...port,
  installed: () => tools.installed(),
  access: (call) => tools.access(call),
  invoke: (call, actor) => tools.invoke(call, actor),
  confirmed: (call) => consent.confirmed(call),
  advanceTo: (at) => clockControl.advanceTo(at),
};

const observation = ({ exposed = null, notices = [] }) => ({ exposed, notices: notices.map(toJson) });

function feedback({ callId, answer, effects = [], confirm = false }) {
  const refused = () => ({ tag: confirm ? "needs-confirmation" : "failed", val: failed(answer) });
  const done = () => ({ tag: "done", val: { message: answer.message, data: toJson(answer.data ?? null) } });
  return { callId, reply: answer instanceof Failure ? refused() : done(), effects: effects.map(toJson) };
}

export const exportEnvironment = (plugin) => ({
  describe: () => identity(plugin),
  reset: (setup) => guarded(() => observation(plugin.runReset(environmentPort, setup))),
  step: (turn) =>
    guarded(() => {
      const calls = turn.calls.map((call) => ({ ...call, arguments: JSON.parse(call.arguments) }));
      const result = plugin.runStep(environmentPort, { actor: turn.actor, calls });
      return { feedback: result.feedback.map(feedback), observation: observation(result.observation) };
    }),
});
