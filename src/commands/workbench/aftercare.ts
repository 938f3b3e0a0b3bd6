import type { Book } from '../../exchange/book.js';
import { canBeGivenUp } from '../../exchange/exchange.js';
import { giveUp } from '../../runtime/give-up.js';
import { isTaken, type NoticeAnswer } from '../../runtime/notices.js';
import type { Said } from '../../ui/workbench/controls.js';
import type { Answers } from './answers.js';
import type { Ledger } from './ledger.js';
import { done, failed } from './said.js';

/** Where calls are that were made. */
export interface Ward {
  readonly book: Book;
  readonly ledger: Ledger;
  readonly answers: Answers;
}

/** Gives the answer to an open question of a call; null where it was taken. */
export function answer({ book, answers }: Ward, key: string, leg: string, selected: number): Said | null {
  const exchange = book.history.exchanges.get(key);
  const question = exchange?.questions.find(each => each.leg === leg)?.message;
  if (question?.type !== 'user_choice') return failed('there is no such question');
  if (question.choices[selected] === undefined) return failed('there is no such choice');
  return answers.give(question, selected) ? null : failed('nobody waits for this answer any more');
}

/** Gives a call, or the subscription that it started, up, and tells its tool. */
export async function cancel({ book, ledger }: Ward, key: string): Promise<Said> {
  const exchange = book.history.exchanges.get(key);
  const offer = ledger.offerOf(key);
  if (!exchange || !offer) return failed('this call is none of this session');
  if (!canBeGivenUp(exchange)) return failed('there is nothing to cancel: it is over');
  return told(await giveUp(offer.wire, offer.discovered.base, exchange, 'person'));
}

function told(reply: NoticeAnswer): Said {
  if (isTaken(reply)) return done('given up, and the tool was told');
  const why = reply.kind === 'answered' ? `it answered ${reply.status}` : reply.reason;
  return failed(`given up here, but the tool could not be told: ${why}`);
}
