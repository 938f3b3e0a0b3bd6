import { isUnderWay } from '../../../exchange/exchange.js';
import { isLightToJudge } from '../../calls/light.js';
import type { Subject } from './sheet.js';

/** Events of a call that goes on: it is judged again and again. */
const LONGEST_PENDING = 16;

/** Is another one where a call has to be judged anew: what came to no call may be meant for one that waits. */
export function stateOf(subject: Subject): string {
  const { book, key } = subject;
  return isOver(subject) ? `over ${book.of(key).length}` : `${book.of(key).length} ${book.of(null).length}`;
}

/** Whether it takes no time and no memory worth mentioning to judge it. */
export function isLight(subject: Subject): boolean {
  const events = subject.book.whole.of(subject.key);
  return isOver(subject) ? isLightToJudge(events) : isLightToJudge(events, LONGEST_PENDING);
}

/** Of what is in a file nothing is to come. */
function isOver({ book, key }: Subject): boolean {
  const exchange = book.history.exchanges.get(key);
  return book.isSaved || !exchange || !isUnderWay(exchange);
}
