import { isRecord } from '../util/values.js';
import { CALLBACK_TYPES } from './callbacks.js';
import { outcomeOfPayload } from './outcome.js';

/** Members that only an outcome would have. */
const OUTCOME_MEMBERS = ['text', 'content', 'result', 'output', 'outcome'];

/**
 * Whether the JSON in the body of an acknowledgement is what should be a callback, or an outcome in any other form (TOOL-ASYNC). Other
 * bodies, such as `OK`, do no harm: no runtime reads them.
 */
export function isOutcomeInAcknowledgement(value: unknown): boolean {
  if (!isRecord(value)) return false;
  if (CALLBACK_TYPES.some(type => type === value['type'])) return true;
  return outcomeOfPayload(value) !== null || OUTCOME_MEMBERS.some(name => name in value);
}
