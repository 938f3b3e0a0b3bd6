import type { Event } from '../../exchange/events.js';

/** Events of a call that is over. */
const LONGEST = 200;
/** Bytes of its bodies: to judge them takes several times as many. */
const LARGEST = 1024 * 1024;

/** Whether it takes no time and no memory worth mentioning to judge a call by its events. */
export function isLightToJudge(events: readonly Event[], longest = LONGEST): boolean {
  return events.length <= longest && sizeOf(events) <= LARGEST;
}

function sizeOf(events: readonly Event[]): number {
  return events.reduce((bytes, event) => bytes + ('body' in event ? (event.body?.size ?? 0) : 0), 0);
}
