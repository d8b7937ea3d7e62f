/**
 * The guest SDK for JavaScript: tool, environment, verifier and skill plugins, without hand-written WIT records.
 *
 * An author's module makes one plugin object and exports it. Nothing here imports the contract, so that a plugin is ordinary JavaScript
 * outside of a component: `testing.js` stands in for the host there. `glue/` alone knows the contract, and only `loopwright plugin build`
 * imports it.
 */
export { CallError, Failure, Fault, JudgeError, ScratchError, StateError } from "./errors.js";
export { Environment, EnvironmentPlugin } from "./environment.js";
export { Phone, PhoneView, Scratch } from "./phone.js";
export { ToolPlugin, reply } from "./plugin.js";
export { SkillPlugin, allow, block, warn } from "./skill.js";
export { Evidence, Snapshot, VerifierPlugin, verdictOf } from "./verifier.js";
export * as schema from "./schema.js";
