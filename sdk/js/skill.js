/** A skill plugin: know-how about some tools. It advises, and cannot act. */
import { PhoneView } from "./phone.js";

/** Nothing against the call. */
export const allow = () => ({ tag: "allow" });
/** The call runs, and the planner is told this. */
export const warn = (reason) => ({ tag: "warn", val: reason });
/** The call does not run, and the planner is told why and what to do first. */
export const block = (reason) => ({ tag: "block", val: reason });

/** A skill: its card, its rules by language and tool, and its check. */
export class SkillPlugin {
  kind = "skill";
  ext = {};
  rules = [];

  /** `summary` and the rules' texts are objects by language, English (`en`) among them. `check(phone, call)` gives advice. */
  constructor(name, version, { summary, about, exposes = [], check = allow }) {
    Object.assign(this, { name, version, summary, about, exposes, check });
  }

  /** Adds a rule that is shown while all of these tools are offered. */
  rule(tools, texts) {
    this.rules.push({ tools, texts });
    return this;
  }

  /** The instructions for the tools that are offered; English where a language is missing. */
  guidance(offered, lang) {
    const shown = this.rules.filter((rule) => rule.tools.every((tool) => offered.includes(tool)));
    return shown.map(({ texts }) => `- ${texts[lang.split("-")[0]] ?? texts.en}`).join("\n");
  }

  /** Judges a call before it runs. */
  runCheck(port, call) {
    return this.check(new PhoneView(port), call);
  }
}
