/** Reading state and writing the log: all that a skill has. */
import stateRead from "loopwright:afv/state-read@0.1.0";
import { asked, writeLog } from "./common.js";

export const readingPort = {
  get: (collection, key) => asked(() => stateRead.get(collection, key)),
  getMany: (keys) => asked(() => stateRead.getMany(keys)),
  find: (collection, query) => asked(() => stateRead.find(collection, query)),
  log: writeLog,
};
