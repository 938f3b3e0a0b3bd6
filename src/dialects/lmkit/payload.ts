import { outcomeOfPayload } from '../../outcome/conventions.js';
import type { JudgedOutcome, Outcome } from '../../outcome/outcome.js';
import type { ResultType } from '../../protocol/lmkit/tool-call-result.js';
import { compactJson } from '../../text/compact-json.js';
import { isRecord } from '../../text/is-record.js';
import { parseJson } from '../../text/json.js';

/** What a `ResultJson` says, seen with the type beside it. */
export interface PayloadReading {
  readonly outcome: JudgedOutcome;
  readonly payload: unknown;
  readonly notes: readonly string[];
  /** What stands in it that the outcome has no place for. */
  readonly rest?: string;
}

/** Reads a `ResultJson`. One that is no JSON, or not what is documented for its type, is taken for words, and nothing is lost (seed 002). */
export function readPayload(resultJson: string, type: ResultType | null, raw: unknown): PayloadReading {
  const json = parseJson(resultJson);
  const payload = json.ok ? json.value : resultJson;
  const notes = json.ok ? [...json.notes] : [`ResultJson is no JSON, and taken for a text: ${json.reason}`];
  if (type === null) return { outcome: { type: 'unknown', raw, basis: 'declared' }, payload, notes };
  if (type === 'Success') return { outcome: { type: 'success', basis: 'declared' }, payload, notes };
  const kind = KINDS[type];
  const documented = json.ok ? declaredOutcome(kind, payload) : null;
  if (documented) return { ...documented, payload, notes };
  const said = typeof payload === 'string' ? payload : resultJson;
  return {
    ...inWords(kind, said),
    payload,
    notes: [...notes, `ResultJson is not what is documented for ${type}`],
  };
}

const KINDS = { Error: 'error', Canceled: 'canceled', Timeout: 'timeout', Denied: 'denied' } as const;

/** The members that are documented for a kind (seed 002). */
const MEMBERS = {
  error: ['message', 'code', 'type'],
  canceled: ['reason', 'by'],
  timeout: ['durationMs'],
  denied: ['tool', 'reason'],
} as const;

/**
 * The type is declared, nothing has to be guessed: a member that is null was not given, and what else stands there is kept beside. Null
 * where the payload is no object of its kind.
 */
function declaredOutcome(
  kind: keyof typeof MEMBERS,
  payload: unknown,
): Pick<PayloadReading, 'outcome' | 'rest'> | null {
  const inner = isRecord(payload) ? payload[kind] : undefined;
  if (!isRecord(payload) || !isRecord(inner)) return null;
  const members: readonly string[] = MEMBERS[kind];
  const given = Object.entries(inner).filter(([, value]) => value !== null);
  const known = given.filter(([name]) => members.includes(name));
  const outcome = outcomeOfPayload({ [kind]: Object.fromEntries(known) });
  if (outcome === null) return null;
  const others = Object.fromEntries(given.filter(([name]) => !members.includes(name)));
  const { [kind]: _, ...beside } = payload;
  const rest = { ...beside, ...(Object.keys(others).length > 0 && { [kind]: others }) };
  const left = Object.keys(rest).length > 0 ? compactJson(rest) : null;
  return { outcome: { ...outcome, basis: 'declared' }, ...(left !== null && { rest: left }) };
}

/** The same kind of outcome, with what was said as its reason; a timeout has none. */
function inWords(
  kind: Exclude<Outcome['type'], 'success' | 'unknown'>,
  said: string,
): Pick<PayloadReading, 'outcome' | 'rest'> {
  const basis = 'declared';
  if (kind === 'error') return { outcome: { type: kind, message: said, basis } };
  if (kind === 'timeout') return { outcome: { type: kind, basis }, rest: said };
  return { outcome: { type: kind, reason: said, basis } };
}
