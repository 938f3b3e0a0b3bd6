import type { Book } from '../../exchange/book.js';
import type { RequirementId } from '../../protocol/requirements.js';
import { concerning } from '../../story/calls/index.js';

const VALIDATION: ReadonlySet<RequirementId> = new Set(['RT-ARGS']);

/** Whether the arguments of a call broke the `inputSchema` that was known then (RT-ARGS): nobody can have validated them. */
export async function wentUnvalidated(book: Book, key: string): Promise<boolean> {
  const exchange = book.history.exchanges.get(key);
  if (!exchange) return false;
  const { checkTranscript } = await import('../../rules/check-transcript.js');
  const told = { observer: book.observer, only: VALIDATION, sides: ['runtime'] } as const;
  const { summary } = await checkTranscript(concerning(book.whole, exchange), told);
  return summary.fail > 0 || summary.warn > 0;
}
