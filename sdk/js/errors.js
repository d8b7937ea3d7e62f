/** How a call ends that does not do what was asked. */

/** A bug, or broken data: nothing that a planner could mend. It is logged and traps, and the call's writes are rolled back. */
export class Fault extends Error {}

/** A refusal that a planner can act on. Throw it: `throw Failure.notFound("no lamp `desk`", { candidates: ["main"] })`. */
export class Failure extends Error {
  constructor(code, message, data = null) {
    super(message);
    this.code = code;
    this.data = data;
  }

  /** 400: an argument is wrong. */
  static badArgument(message, data) {
    return new Failure(400, message, data);
  }

  /** 403: a permission is missing. */
  static denied(message, data) {
    return new Failure(403, message, data);
  }

  /** 404: what was named does not exist. */
  static notFound(message, data) {
    return new Failure(404, message, data);
  }

  /** 409: the state speaks against it. */
  static conflict(message, data) {
    return new Failure(409, message, data);
  }

  /** 412: something must hold first, such as a network. */
  static precondition(message, data) {
    return new Failure(412, message, data);
  }

  /** 422: several things fit the words. */
  static ambiguous(message, candidates) {
    return new Failure(422, message, { candidates });
  }

  /** 423: the device is locked, or the user has to confirm. */
  static locked(message, data) {
    return new Failure(423, message, data);
  }

  /** 429: a limit is reached. */
  static limit(message, data) {
    return new Failure(429, message, data);
  }

  /** 503: the service behind the tool is down. */
  static unavailable(message, data) {
    return new Failure(503, message, data);
  }
}

const CODES = { denied: 403, "not-found": 404, conflict: 409, limit: 429 };

/** Why a state operation did not happen. `kind` is `denied`, `not-found`, `conflict`, `limit`, `invalid` or `other`. */
export class StateError extends Error {
  constructor(kind, detail = "") {
    super(detail ? `${kind}: ${detail}` : kind);
    this.kind = kind;
    this.detail = detail;
  }

  /** The refusal that it becomes when a handler lets it pass; null where it is a fault of the plugin. */
  failure() {
    const code = CODES[this.kind];
    return code ? new Failure(code, `state: ${this.message}`) : null;
  }
}

/**
 * Why a call of another plugin's tool did not do what was asked. `kind` is `failed` (the tool refused: `refused` is its Failure), `denied`
 * (the host refused: not granted, not allowed within the running call, `busy`, `depth`) or `faulted` (its code `trapped`, or spent the
 * budget that `detail` names).
 */
export class CallError extends Error {
  constructor(kind, detail, refused = null) {
    super(`${kind}: ${detail}`);
    this.kind = kind;
    this.detail = detail;
    this.refused = refused;
  }

  /** The refusal that it becomes when a handler lets it pass: the called tool's own, 403, or 503. */
  failure() {
    if (this.refused) return this.refused;
    if (this.kind === "denied") return new Failure(403, `the call is denied: ${this.detail}`);
    return new Failure(503, `the called tool failed: ${this.detail}`);
  }
}

/** Why something is not kept. `kind` is `quota` or `invalid`; `detail` says what is allowed and what was found. */
export class ScratchError extends Error {
  constructor(kind, detail) {
    super(`${kind}: ${detail}`);
    this.kind = kind;
    this.detail = detail;
  }

  /** The refusal that it becomes when a handler lets it pass; null where it is a fault of the plugin. */
  failure() {
    return this.kind === "quota" ? new Failure(429, `scratch is full: ${this.detail}`) : null;
  }
}

/** Why a verifier gives no verdict. `kind` is `invalid-check`, `missing-evidence` or `other`. */
export class JudgeError extends Error {
  constructor(kind, detail) {
    super(`${kind}: ${detail}`);
    this.kind = kind;
    this.detail = detail;
  }
}

/** What a handler of any kind threw, as a Failure; anything that is none is a fault, and thrown on. */
export function refusal(error) {
  if (error instanceof Failure) return error;
  const known = [StateError, CallError, ScratchError].some((kind) => error instanceof kind);
  const failure = known ? error.failure() : null;
  if (failure) return failure;
  throw error;
}
