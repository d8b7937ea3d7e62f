/** The imports of a tool's world. */
import context from "loopwright:afv/context@0.1.0";
import stateWrite from "loopwright:afv/state-write@0.1.0";
import { asked } from "./common.js";
import { readingPort } from "./reading.js";

export const port = {
  ...readingPort,
  put: (collection, key, text) => asked(() => stateWrite.put(collection, key, text)),
  patch: (collection, key, text) => asked(() => stateWrite.patch(collection, key, text)),
  delete: (collection, key) => asked(() => stateWrite.delete(collection, key)),
  now: () => context.now(),
  zone: () => context.zone(),
  offsetS: (at) => context.offsetS(at),
  randomBits: () => context.randomBits(),
  nextId: (prefix) => context.nextId(prefix),
};
