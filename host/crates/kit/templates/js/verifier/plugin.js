/** Passes when one field of one document is as the check says: `{"collection", "key", "at", "equals"}`. */
import { JudgeError, VerifierPlugin, verdictOf } from "./loopwright/index.js";

const KEYS = ["at", "collection", "equals", "key"];

function judge(evidence, check, upto) {
  const found = Object.keys(check).sort();
  if (found.join() !== KEYS.join()) throw new JudgeError("invalid-check", `expected the keys ${KEYS}, found ${found}`);
  const atReset = fieldOf(evidence.initial(), check);
  const state = evidence.after(upto);
  if (!state) throw new JudgeError("missing-evidence", `state after ${upto} steps`);
  const now = fieldOf(state, check);
  const [expected, ...values] = [check.equals, now, atReset].map((value) => JSON.stringify(value));
  const reason = `${check.collection}/${check.key}${check.at}: expected ${expected}, found ${values[0]}`;
  return verdictOf([{ id: "document", passed: values[0] === expected, heldAtReset: values[1] === expected, reason }]);
}

function fieldOf(state, { collection, key, at }) {
  const document = state.get(collection, key);
  state.close();
  const parts = at.split("/").slice(1);
  return parts.reduce((found, part) => found?.[part], document) ?? null;
}

export default new VerifierPlugin("plugin-name", "0.1.0", { judge });
