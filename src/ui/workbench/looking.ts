import type { Book } from '../../exchange/book.js';
import type { Exchange } from '../../exchange/exchange.js';
import { openQuestions } from '../../exchange/questions.js';
import type { UserChoice } from '../../protocol/callbacks/index.js';
import type { State } from './state/state.js';
import type { Volume, World } from './world.js';

/** The call that is looked at, and where it is from. */
export interface Looking {
  readonly volume: Volume;
  readonly book: Book;
  readonly key: string | null;
  readonly exchange: Exchange | undefined;
}

/** The selected call; the newest where none is, or the selected one is gone. */
export function lookingAt({ calls }: State, { volumes }: World): Looking {
  const volume = volumes.find(({ id }) => id === calls.volume) ?? volumes[0];
  if (!volume) throw new Error('there is always the volume of this session');
  const { book } = volume;
  const isKnown = calls.selected !== null && book.history.exchanges.has(calls.selected);
  const key = (isKnown ? calls.selected : book.keys.at(-1)) ?? null;
  return { volume, book, key, exchange: key === null ? undefined : book.history.exchanges.get(key) };
}

/** A choice that a tool waits for. */
export interface OpenChoice {
  readonly key: string;
  readonly leg: string;
  readonly question: UserChoice;
}

/** The oldest choice that a tool waits for: of the selected call, else of any. */
export function openQuestion({ key }: Looking, book: Book): OpenChoice | null {
  const own = key === null ? null : choiceOf(key, book);
  if (own) return own;
  for (const each of book.underWay) {
    const choice = choiceOf(each, book);
    if (choice) return choice;
  }
  return null;
}

function choiceOf(key: string, { history }: Book): OpenChoice | null {
  const exchange = history.exchanges.get(key);
  for (const { leg, message } of exchange ? openQuestions(exchange) : [])
    if (message.type === 'user_choice') return { key, leg, question: message };
  return null;
}
