import type { Rule } from '../rule.js';
import { validatesArguments } from './arguments.js';
import { postsSelections } from './choice.js';
import { acceptsDuplicates } from './duplicate.js';
import { sendsAllFields } from './fields.js';
import { usesFreshIds } from './fresh-id.js';
import { matchesResults } from './match.js';
import { neverRetriesRefusals } from './no-retry.js';
import { notifiesOnce } from './notify.js';
import { keepsNoConsentUrl } from './oauth.js';
import { dispatchesLoadedOperations } from './operation.js';
import { failsOnOtherAcknowledgements } from './other-acknowledgement.js';
import { keepsAsking } from './pending.js';
import { retriesDispatch } from './retry.js';
import { tracksSubscriptions } from './subscription.js';
import { loadsToolsetsWhole } from './toolset.js';
import { validatesCallbacks } from './validate.js';
import { takesViews } from './view.js';

/** What a runtime must hold. A new rule is one file and one line here. */
export const RUNTIME_RULES: readonly Rule[] = [
  dispatchesLoadedOperations,
  validatesArguments,
  usesFreshIds,
  sendsAllFields,
  failsOnOtherAcknowledgements,
  retriesDispatch,
  neverRetriesRefusals,
  validatesCallbacks,
  matchesResults,
  acceptsDuplicates,
  keepsAsking,
  keepsNoConsentUrl,
  postsSelections,
  tracksSubscriptions,
  takesViews,
  notifiesOnce,
  loadsToolsetsWhole,
];
