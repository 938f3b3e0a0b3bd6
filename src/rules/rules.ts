import type { RequirementId } from '../protocol/requirements.js';
import type { Rule } from './rule.js';
import { RUNTIME_RULES } from './runtime/index.js';
import { TOOL_RULES } from './tool/index.js';

/** Every rule there is, by its id. */
export const RULES: ReadonlyMap<RequirementId, Rule> = new Map(
  [...TOOL_RULES, ...RUNTIME_RULES].map(rule => [rule.id, rule]),
);

/** Requirements that nobody can judge from outside, and why. A test holds that each requirement has a rule, or is here. */
export const UNOBSERVABLE: Readonly<Partial<Record<RequirementId, string>>> = {
  'TOOL-RATE': 'cannot be seen without a flood, and a check floods nobody',
};
