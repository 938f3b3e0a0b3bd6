import { REQUIREMENT_IDS, type RequirementId } from '../../protocol/requirements.js';
import type { Requirement, Rule } from '../rule.js';
import { acknowledgementRules } from './acknowledgement.js';
import { argumentRules } from './arguments.js';
import { deliveryRules } from './delivery.js';
import { discoveryRules } from './discovery.js';
import { idRules } from './ids.js';
import { noticeRules } from './notices.js';
import { questionRules } from './questions.js';
import { runtimeRules } from './runtime.js';
import { runtimeCallbackRules } from './runtime-callbacks.js';
import { textRules } from './texts.js';

/** An id without a rule does not compile. */
const BY_THEME: Readonly<Record<RequirementId, Rule>> = {
  ...acknowledgementRules,
  ...argumentRules,
  ...deliveryRules,
  ...discoveryRules,
  ...idRules,
  ...noticeRules,
  ...questionRules,
  ...runtimeRules,
  ...runtimeCallbackRules,
  ...textRules,
};

/** Every rule by its id, in the order of the protocol. */
export const RULES = Object.fromEntries(REQUIREMENT_IDS.map(id => [id, BY_THEME[id]])) as typeof BY_THEME;

/** What each side of the protocol must do. Messages, tests and checks refer to a requirement by its id. */
export const REQUIREMENTS: Readonly<Record<RequirementId, Requirement>> = { ...RULES };
