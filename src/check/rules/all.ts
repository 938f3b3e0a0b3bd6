import { REQUIREMENT_IDS, type RequirementId } from '../../protocol/requirements.js';
import type { Requirement, Rule } from '../rule.js';
import { conversationRules } from './conversation.js';
import { deliveryRules } from './delivery.js';
import { discoveryRules } from './discovery.js';
import { idRules } from './ids.js';
import { invocationRules } from './invocations.js';
import { runtimeRules } from './runtime.js';
import { textRules } from './texts.js';

/** A requirement id without a rule does not compile. */
const BY_THEME: Readonly<Record<RequirementId, Rule>> = {
  ...conversationRules,
  ...deliveryRules,
  ...discoveryRules,
  ...idRules,
  ...invocationRules,
  ...runtimeRules,
  ...textRules,
};

/** Every rule by its id, in the order of the protocol. */
export const RULES = Object.fromEntries(REQUIREMENT_IDS.map(id => [id, BY_THEME[id]])) as typeof BY_THEME;

/** What each side of the protocol must do. Messages, tests and checks refer to a requirement by its id. */
export const REQUIREMENTS: Readonly<Record<RequirementId, Requirement>> = { ...RULES };
