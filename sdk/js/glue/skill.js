/** The exports of a skill plugin. */
import { guarded, identity, localized } from "./common.js";
import { readingPort } from "./reading.js";

const fault = (error) => {
  throw error;
};

export const exportSkill = (plugin) => ({
  describe: () => identity(plugin),
  card: () => ({ name: plugin.name, summary: localized(plugin.summary), about: plugin.about, exposes: plugin.exposes }),
  guidance: (offered, lang) => plugin.guidance(offered, lang),
  check: (call) => guarded(() => plugin.runCheck(readingPort, { ...call, arguments: JSON.parse(call.arguments) }), fault),
});
