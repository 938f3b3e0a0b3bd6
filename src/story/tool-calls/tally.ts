import type { Event } from '../../exchange/events.js';
import type { Line, Tone } from '../line.js';
import { say } from '../spans.js';

/** What happened so far, in numbers: of all calls, remembered or not. */
export interface Tally {
  readonly calls: number;
  readonly unmatched: number;
  readonly undelivered: number;
}

export const NO_CALLS: Tally = { calls: 0, unmatched: 0, undelivered: 0 };

export function stepTally(tally: Tally, event: Event): Tally {
  if (event.kind === 'request' && event.purpose === 'invocation' && event.attempt === 1)
    return { ...tally, calls: tally.calls + 1 };
  if (event.kind === 'matched' && event.fixture === null) return { ...tally, unmatched: tally.unmatched + 1 };
  if (event.kind === 'dropped' && event.what === 'callback')
    return { ...tally, undelivered: tally.undelivered + event.count };
  return tally;
}

/** `12 calls · 1 unmatched · 2 undelivered` */
export function tallyLine({ calls, unmatched, undelivered }: Tally): Line {
  const found = (count: number, what: string, tone: Tone) =>
    count > 0 ? [say(' · ', 'dim'), say(`${count} ${what}`, tone)] : [];
  return [
    say(`${calls} ${calls === 1 ? 'call' : 'calls'}`, 'dim'),
    ...found(unmatched, 'unmatched', 'warn'),
    ...found(undelivered, 'undelivered', 'bad'),
  ];
}
