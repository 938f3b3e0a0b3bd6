import type { Book } from '../../exchange/book.js';
import type { Exchange } from '../../exchange/exchange.js';
import type { Line, Span } from '../line.js';
import { say } from '../spans.js';
import { clipped } from '../tool-calls/clip.js';
import { elapsed } from '../tool-calls/index.js';
import { standingOf } from './standing.js';

/** One exchange in a list, cell by cell. */
export interface ExchangeRow {
  readonly mark: Span;
  readonly cells: Readonly<Record<ExchangeColumn | 'state', Line>>;
  readonly isRunning: boolean;
}

export type ExchangeColumn = 'time' | 'operation' | 'server' | 'id' | 'thread' | 'broken';

/** What its events alone do not tell. */
export interface RowNotes {
  /** That the call was made by, where there are several. */
  readonly server?: string | undefined;
  /** Requirements that it broke, each a MUST. */
  readonly musts?: number;
}

/**
 * @param now ms since the start
 * @param book that the exchange is in
 */
export function exchangeRow(
  exchange: Exchange,
  now: number,
  book: Book,
  { server = '', musts = 0 }: RowNotes = {},
): ExchangeRow {
  const { operation, id, group_id } = exchange.invocation;
  const begunAt = begunAtOf(exchange, book);
  const { mark, line, isRunning } = standingOf(exchange, begunAt, now);
  return {
    mark,
    isRunning,
    cells: {
      time: [say(elapsed(begunAt).padStart(7), 'dim')],
      operation: clipped(operation),
      server: clipped(server, 'dim'),
      id: clipped(id, 'dim'),
      thread: clipped(group_id, 'dim'),
      broken: musts === 0 ? [] : [say(`⚠ ${musts} MUST`, 'bad')],
      state: line,
    },
  };
}

/** When its first event happened: one that is expected, or denied, was never sent. */
function begunAtOf({ key, attempts }: Exchange, book: Book): number {
  return attempts[0]?.sentAt ?? book.of(key)[0]?.at ?? 0;
}
