import { isRecord } from '../../text/is-record.js';
import type { CallEvidence } from './evidence.js';

/** Every text that a call carries, but for where callbacks go, which is said in confidence: what comes back of it is no news. */
export function saidBy({ attempts }: Pick<CallEvidence, 'attempts'>): readonly string[] {
  const json = attempts[0]?.request.body?.json;
  if (!json?.ok) return [];
  if (!isRecord(json.value)) return stringsIn(json.value);
  const { callback_url: _, ...said } = json.value;
  return stringsIn(said);
}

/** Every text in a JSON value. */
export function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(stringsIn);
  return isRecord(value) ? Object.values(value).flatMap(stringsIn) : [];
}
