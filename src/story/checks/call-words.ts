import type { ConcernedCall } from '../../rules/concerned-call.js';
import { cut } from '../../text/cut.js';
import { firstFew } from '../../text/first-few.js';
import { visibleLine } from '../../text/visible.js';

/** Characters of an id that a person looks for. */
const SHORT = 20;
/** Calls that are told of a finding. */
export const MOST_CALLS = 3;

/** How much of an id is told: on a screen so much as tells one from the other, where a line tells the place. */
export type Ids = 'short' | 'whole';

/** A call, as it is found again: `edit_file · call_8f3a… · run.ndjson:9`. One line, safe to print. */
export function callText({ operation, id, line }: ConcernedCall, file?: string, ids: Ids = 'whole'): string {
  const parts = [
    operation ?? 'no operation',
    id === null ? 'no id' : ids === 'whole' || line === undefined ? id : cut(id, SHORT),
    ...(line === undefined ? [] : [file === undefined ? `line ${line}` : `${file}:${line}`]),
  ];
  return visibleLine(parts.join(' · '));
}

/** The calls of a finding in one sentence. */
export function callsText(calls: readonly ConcernedCall[], file?: string): string {
  return firstFew(
    calls.map(call => callText(call, file)),
    MOST_CALLS,
  );
}
