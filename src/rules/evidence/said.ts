import { isRecord } from '../../text/is-record.js';
import { stringsIn } from '../../text/strings-in.js';
import type { CallEvidence } from './evidence.js';

/** Every text that a call carries, but for where callbacks go, which is said in confidence: what comes back of it is no news. */
export function saidBy({ attempts }: Pick<CallEvidence, 'attempts'>): readonly string[] {
  const json = attempts[0]?.request.body?.json;
  if (!json?.ok) return [];
  if (!isRecord(json.value)) return stringsIn(json.value);
  const { callback_url: _, ...said } = json.value;
  return stringsIn(said);
}
