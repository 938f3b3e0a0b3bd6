import type { Difference } from '../../fixtures/matching/pattern.js';
import { wantedText } from '../../fixtures/matching/wanted.js';
import { isRecord } from '../../text/is-record.js';
import { parseJson } from '../../text/json.js';
import { jsonPath } from '../../text/json-path.js';
import type { Session, Settled } from './state/session.js';

/** Where an answer is not as its script expects it. */
export interface Unexpected {
  /** In the settled call. */
  readonly path: string;
  readonly reason: string;
}

/** How the answer of a call is not as the script of its session expects it; nothing where that expects nothing. */
export function unexpectedIn({ script }: Pick<Session, 'script'>, { call, answer }: Settled): Unexpected[] {
  const expected = script.rounds.flat().find(({ key }) => key === call.key)?.expected;
  return (expected?.(answer) ?? []).map(difference => ({
    path: jsonPath(difference.path),
    reason: `${wantedText(difference)}${isUnparsed(difference) ? UNPARSED : ''}`,
  }));
}

const UNPARSED = ' (it is a string; --parse-json of session answer parses it)';

/** A RAP text is posted as the string it is (platforms). */
function isUnparsed({ wanted, actual }: Difference): boolean {
  if (!isRecord(wanted) || typeof actual !== 'string') return false;
  const reading = parseJson(actual);
  return reading.ok && isRecord(reading.value);
}
