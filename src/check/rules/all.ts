import type { RequirementId } from '../../protocol/requirements.js';
import type { Rule } from '../judge.js';
import { acknowledgesAtOnce, answersByCallback } from './acknowledgement.js';
import {
  executesOnlyValidCalls,
  ignoresExtraFields,
  refusesBadArguments,
  refusesUnknownOperations,
  survivesMalformedPayloads,
} from './arguments.js';
import {
  dropsNothing,
  endsOnce,
  postsJson,
  retries,
  takesNoForAnAnswer,
  usesUrlAsGiven,
} from './delivery.js';
import { migrates, namesToolsWell, servesToolset } from './discovery.js';
import { keepsCallId, keepsCallsApart, keepsId, keepsThread } from './ids.js';
import { keepsSubscriptions, takesCancels, takesCloses } from './notices.js';
import { asksForConsent, offersChoices } from './questions.js';
import { RUNTIME_RULES } from './runtime.js';
import {
  describesImages,
  endsWithText,
  givesUnifiedDiffs,
  hidesItsInsides,
  prefixesErrors,
  tellsNoSecret,
} from './texts.js';

/** What a tool must hold, in the order of the protocol. A new rule is one file and one line here. */
export const TOOL_RULES: readonly Rule[] = [
  acknowledgesAtOnce,
  answersByCallback,
  dropsNothing,
  postsJson,
  keepsThread,
  keepsId,
  keepsCallId,
  endsOnce,
  keepsCallsApart,
  usesUrlAsGiven,
  executesOnlyValidCalls,
  refusesUnknownOperations,
  refusesBadArguments,
  survivesMalformedPayloads,
  ignoresExtraFields,
  prefixesErrors,
  tellsNoSecret,
  hidesItsInsides,
  retries,
  takesNoForAnAnswer,
  endsWithText,
  givesUnifiedDiffs,
  describesImages,
  keepsSubscriptions,
  offersChoices,
  asksForConsent,
  takesCancels,
  takesCloses,
  servesToolset,
  namesToolsWell,
  migrates,
];

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
