import { isUnderWay } from '../../../exchange/exchange.js';
import type { Subject } from './sheet.js';

/** Events of a call; of one that goes on fewer, since it is judged again and again. */
const LONGEST = 200;
const LONGEST_PENDING = 16;

/** Is another one where a call has to be judged anew: what came to no call may be meant for one that waits. */
export function stateOf(subject: Subject): string {
  const { book, key } = subject;
  return isOver(subject) ? `over ${book.of(key).length}` : `${book.of(key).length} ${book.of(null).length}`;
}

/** Whether it takes no time worth mentioning to judge it. */
export function isShort(subject: Subject): boolean {
  return subject.book.of(subject.key).length <= (isOver(subject) ? LONGEST : LONGEST_PENDING);
}

/** Of what is in a file nothing is to come. */
function isOver({ book, key }: Subject): boolean {
  const exchange = book.history.exchanges.get(key);
  return book.isSaved || !exchange || !isUnderWay(exchange);
}
