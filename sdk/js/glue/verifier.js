/** The exports of a verifier plugin, and the evidence that it sees. */
import evidence from "loopwright:afv/evidence@0.1.0";
import { JudgeError } from "../errors.js";
import { asked, guarded, identity, writeLog } from "./common.js";

const snapshotPort = (handle) => ({
  handle,
  get: (collection, key) => asked(() => handle.get(collection, key)),
  getMany: (keys) => keys.map(([collection, key]) => asked(() => handle.get(collection, key))),
  find: (collection, query) => asked(() => handle.find(collection, query)),
  collections: () => handle.collections(),
  digest: () => Uint8Array.from(handle.digest()),
  log: writeLog,
  close: () => handle[Symbol.dispose]?.(),
});

const wrapped = (handle) => (handle ? snapshotPort(handle) : null);

function step({ index, turn, at, by, action, ok, answer }) {
  const common = { index, turn, at, by, ok, answer: JSON.parse(answer) };
  const { tag, val } = action;
  if (tag === "call") return { ...common, kind: tag, action: { ...val, arguments: JSON.parse(val.arguments) } };
  if (tag === "finish") return { ...common, kind: tag, action: JSON.parse(val) };
  if (tag === "other") return { ...common, kind: val[0], action: JSON.parse(val[1]) };
  return { ...common, kind: tag, action: val };
}

const evidencePort = {
  initial: () => snapshotPort(evidence.initial()),
  after: (count) => wrapped(evidence.after(count)),
  target: () => wrapped(evidence.target()),
  changes: (a, b, bookkeeping, cursor, limit) => evidence.changes(a.handle, b.handle, bookkeeping, cursor, limit),
  differences: (a, b, except) => evidence.differences(a.handle, b.handle, except),
  stepCount: () => evidence.stepCount(),
  steps: (start, limit) => evidence.steps(start, limit).map(step),
  log: writeLog,
};

const verdict = ({ passed, score, progress, criteria }) => ({ outcome: passed ? "pass" : "fail", score, progress, criteria });

function judgeError(error) {
  if (error instanceof JudgeError) return { tag: error.kind, val: error.detail };
  throw error;
}

export const exportVerifier = (plugin) => ({
  describe: () => identity(plugin),
  judge: (check, upto) => guarded(() => plugin.run(evidencePort, check, upto).map(verdict), judgeError),
});
