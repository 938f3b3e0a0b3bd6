import { REQUIREMENT_IDS, type RequirementId } from '../../protocol/requirements.js';
import type { Requirement, Rule } from '../rule.js';
import { acknowledgementRules } from './acknowledgements.js';
import { contentRules } from './contents.js';
import { deliveryRules } from './delivery.js';
import { deliveryRetryRules } from './delivery-retries.js';
import { endingRules } from './endings.js';
import { extraMemberRules } from './extra-members.js';
import { idRules } from './ids.js';
import { invocationRules } from './invocations.js';
import { noticeRules } from './notices.js';
import { questionRules } from './questions.js';
import { runtimeAcknowledgementRules } from './runtime-acknowledgements.js';
import { runtimeChoiceRules } from './runtime-choices.js';
import { runtimeDisplayRules } from './runtime-display.js';
import { runtimeInvocationRules } from './runtime-invocations.js';
import { runtimeLogRules } from './runtime-log.js';
import { runtimeNoticeRules } from './runtime-notices.js';
import { runtimeOrderRules } from './runtime-order.js';
import { runtimeQuestionRules } from './runtime-questions.js';
import { runtimeResultRules } from './runtime-results.js';
import { runtimeToolsetRules } from './runtime-toolsets.js';
import { runtimeUpdateRules } from './runtime-updates.js';
import { toolsetRules } from './toolset.js';

/** A requirement id without a rule does not compile. */
const BY_THEME: Readonly<Record<RequirementId, Rule>> = {
  ...acknowledgementRules,
  ...contentRules,
  ...deliveryRetryRules,
  ...deliveryRules,
  ...endingRules,
  ...extraMemberRules,
  ...idRules,
  ...invocationRules,
  ...noticeRules,
  ...questionRules,
  ...toolsetRules,
  ...runtimeInvocationRules,
  ...runtimeToolsetRules,
  ...runtimeLogRules,
  ...runtimeAcknowledgementRules,
  ...runtimeNoticeRules,
  ...runtimeOrderRules,
  ...runtimeDisplayRules,
  ...runtimeResultRules,
  ...runtimeQuestionRules,
  ...runtimeChoiceRules,
  ...runtimeUpdateRules,
};

/** Every rule by its id, in the order of the protocol. */
export const RULES = Object.fromEntries(REQUIREMENT_IDS.map(id => [id, BY_THEME[id]])) as typeof BY_THEME;

/**
 * What each side of the protocol must do. Messages, tests and checks refer to a requirement by its id.
 * @example
 * const { level, statement } = REQUIREMENTS['TOOL-ACK'];
 */
export const REQUIREMENTS: Readonly<Record<RequirementId, Requirement>> = { ...RULES };
