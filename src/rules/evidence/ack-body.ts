import { outcomeOfPayload } from '../../outcome/conventions.js';
import { CALLBACK_TYPES } from '../../protocol/callbacks/index.js';
import { isRecord } from '../../text/is-record.js';
import type { Leg } from './leg.js';

/** Members that only what was asked for would have. */
const ANSWERS = ['text', 'content', 'result', 'output', 'outcome'];

/** Bytes of an answer's body, as far as they are known: nobody has to read it. */
export function bodySize({ response }: Leg): number {
  return response?.body?.size ?? Number(response?.headers['content-length'] ?? 0);
}

/** Whether an answer holds what should be a callback, or the outcome of a call in any other words. */
export function carriesOutcome({ response }: Leg): boolean {
  const value = response?.body?.json.ok ? response.body.json.value : null;
  if (!isRecord(value)) return false;
  if (CALLBACK_TYPES.some(type => type === value['type'])) return true;
  return outcomeOfPayload(value) !== null || ANSWERS.some(name => name in value);
}
