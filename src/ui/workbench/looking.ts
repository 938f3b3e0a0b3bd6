import type { Book } from '../../exchange/book.js';
import type { Exchange } from '../../exchange/exchange.js';
import { isSubscribed } from '../../exchange/exchange.js';
import { openQuestions } from '../../exchange/questions.js';
import type { State } from './state/state.js';
import type { Volume, World } from './world.js';

/** The call that is looked at, and where it is from. */
export interface Looking {
  readonly volume: Volume;
  readonly index: number;
  readonly book: Book;
  readonly key: string | null;
  readonly exchange: Exchange | undefined;
}

/** The selected call; the newest where none is, or the selected one is gone. */
export function lookingAt({ calls }: State, { volumes }: World): Looking {
  const index = Math.min(calls.volume, volumes.length - 1);
  const volume = volumes[index];
  if (!volume) throw new Error('there is always the volume of this session');
  const { book } = volume;
  const isKnown = calls.selected !== null && book.history.exchanges.has(calls.selected);
  const key = (isKnown ? calls.selected : book.keys.at(-1)) ?? null;
  return { volume, index, book, key, exchange: key === null ? undefined : book.history.exchanges.get(key) };
}

/** Something may still come of it. */
export function isUnderWay(exchange: Exchange): boolean {
  return exchange.settled === null || isSubscribed(exchange);
}

/** The oldest choice that a tool waits for: of the selected call, else of any. */
export function openQuestion({ key }: Looking, book: Book) {
  const keys = key === null ? book.keys : [key, ...book.keys];
  for (const each of keys) {
    const exchange = book.history.exchanges.get(each);
    if (!exchange || exchange.settled) continue;
    for (const { leg, message } of openQuestions(exchange))
      if (message.type === 'user_choice') return { key: each, leg, question: message };
  }
  return null;
}
