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
  'RT-SANITIZE':
    "what is done before text goes to the model is the runtime's own matter, and not on the wire",
  'RT-TEXT': 'what the model gets is not on the wire',
  'RT-DISPLAY': 'what the human sees is not on the wire',
  'RT-SERIAL': 'when a message is handled, after it was answered, is not on the wire',
  'RT-AUDIT': "a runtime's own log is not on the wire",
  'RT-TIMEOUT': 'the protocol leaves it open, and the result that a runtime records is not on the wire',
};
