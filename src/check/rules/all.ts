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

/** Requirements without a rule, and why they have none. */
export const UNOBSERVABLE: Readonly<Partial<Record<RequirementId, string>>> = {
  'TOOL-RATE': 'not tested (needs load)',
  'RT-SANITIZE': 'not visible in HTTP traffic: it happens before the text goes to the model',
  'RT-TEXT': 'not visible in HTTP traffic: it concerns what the model gets',
  'RT-DISPLAY': 'not visible in HTTP traffic: it concerns what the user sees',
  'RT-SERIAL': 'not visible in HTTP traffic: it concerns work after the answer',
  'RT-AUDIT': "not visible in HTTP traffic: it concerns the runtime's own log",
  'RT-TIMEOUT': 'not visible in HTTP traffic, and the protocol leaves it open',
};
