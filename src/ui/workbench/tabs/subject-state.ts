import type { Event } from '../../../exchange/events.js';
import { isUnderWay } from '../../../exchange/exchange.js';
import type { Subject } from './sheet.js';

/** Events of a call; of one that goes on fewer, since it is judged again and again. */
const LONGEST = 200;
const LONGEST_PENDING = 16;
/** Bytes of its bodies: to judge them takes several times as many. */
const LARGEST = 1024 * 1024;

/** Is another one where a call has to be judged anew: what came to no call may be meant for one that waits. */
export function stateOf(subject: Subject): string {
  const { book, key } = subject;
  return isOver(subject) ? `over ${book.of(key).length}` : `${book.of(key).length} ${book.of(null).length}`;
}

/** Whether it takes no time and no memory worth mentioning to judge it. */
export function isLight(subject: Subject): boolean {
  const events = subject.book.whole.of(subject.key);
  return events.length <= (isOver(subject) ? LONGEST : LONGEST_PENDING) && sizeOf(events) <= LARGEST;
}

function sizeOf(events: readonly Event[]): number {
  return events.reduce((bytes, event) => bytes + ('body' in event ? (event.body?.size ?? 0) : 0), 0);
}

/** Of what is in a file nothing is to come. */
function isOver({ book, key }: Subject): boolean {
  const exchange = book.history.exchanges.get(key);
  return book.isSaved || !exchange || !isUnderWay(exchange);
}
