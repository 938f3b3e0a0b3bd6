import type { CallEvidence } from './evidence.js';
import { toldAs } from './messages.js';

interface Span {
  readonly call: CallEvidence;
  readonly from: number;
  readonly to: number;
}

/** The calls that were answered, and ran while another one did. @param until the end of it all, for those that did not end */
export function atOnce(calls: readonly CallEvidence[], until: number): readonly CallEvidence[] {
  const spans = calls.flatMap(call => spanOf(call, until)).sort((one, other) => one.from - other.from);
  let busyUntil = -1;
  return spans.flatMap(({ call, from, to }, index) => {
    const overlaps = from < busyUntil || (spans[index + 1]?.from ?? Number.POSITIVE_INFINITY) < to;
    busyUntil = Math.max(busyUntil, to);
    return overlaps && call.callbacks.length > 0 ? [call] : [];
  });
}

function spanOf(call: CallEvidence, until: number): Span[] {
  const [first] = call.attempts;
  if (!call.reading.ok || !first) return [];
  const result = toldAs(call, 'tool_result')[0]?.callback;
  return [{ call, from: first.request.at, to: result?.request.at ?? until }];
}
