import { outcomeOfPayload } from '../../outcome/conventions.js';
import type { JudgedOutcome, Outcome } from '../../outcome/outcome.js';
import type { ResultType } from '../../protocol/lmkit/tool-call-result.js';
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
  const documented = json.ok ? outcomeOfPayload(payload) : null;
  const kind = KINDS[type];
  if (documented?.type === kind) return { outcome: { ...documented, basis: 'declared' }, payload, notes };
  const said = typeof payload === 'string' ? payload : resultJson;
  return {
    ...inWords(kind, said),
    payload,
    notes: [...notes, `ResultJson is not what is documented for ${type}`],
  };
}

const KINDS = { Error: 'error', Canceled: 'canceled', Timeout: 'timeout', Denied: 'denied' } as const;

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
