/** What the worlds share: identities, localized texts, and how errors cross. */
import log from "loopwright:afv/log@0.1.0";
import { Failure, Fault, StateError, refusal } from "../errors.js";
import { toJson } from "../phone.js";

/** What a line of the log may hold of a fault, in characters: the host keeps the tail of a call's log. */
const FAULT_CHARACTERS_MAX = 4000;

export const identity = (plugin) => ({
  name: plugin.name,
  version: plugin.version,
  configSchema: null,
  ext: Object.keys(plugin.ext).sort().map((key) => [key, toJson(plugin.ext[key])]),
});

/** English first, as the contract asks. */
export const localized = (texts) =>
  Object.keys(texts)
    .sort((a, b) => Number(b === "en") - Number(a === "en") || (a < b ? -1 : 1))
    .map((lang) => ({ lang, text: texts[lang] }));

export const writeLog = (level, message) => log.write(["debug", "info", "warn", "error"].includes(level) ? level : "info", message);

/** Calls an import; its error becomes the SDK's. */
export function asked(work) {
  try {
    return work();
  } catch (error) {
    if (error?.payload?.tag) throw new StateError(error.payload.tag, error.payload.val ?? "");
    throw error;
  }
}

export const failed = (failure) => ({
  code: failure.code,
  message: failure.message,
  data: failure.data === null || failure.data === undefined ? null : toJson(failure.data),
});

/** Runs a handler: a refusal is thrown as the contract's record; anything else is logged and traps. */
export function guarded(work, known = (error) => failed(refusal(error))) {
  try {
    return work();
  } catch (error) {
    throw told(error, known);
  }
}

function told(error, known) {
  try {
    return known(error);
  } catch (fault) {
    const text = fault instanceof Fault ? fault.message : `${fault?.name ?? "Error"}: ${fault?.message ?? fault}`;
    writeLog("error", text.slice(0, FAULT_CHARACTERS_MAX));
    // What is thrown is no record of the contract, and so it is a trap.
    return fault instanceof Failure ? new Fault(text) : fault;
  }
}
