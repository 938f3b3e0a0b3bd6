import type { Probed } from './call.js';
import type { Callable } from './callables.js';
import { came, isSubscription, type Letter } from './mailbox.js';
import { cameBy, type Patience } from './patience.js';

/** How well an operation serves for all that is to be tried with one, from 0; null where it does not. */
type Rank = 0 | 1 | 2 | 3 | null;

type Waiting = Patience & { readonly windowMs: number };

/** An operation that is tried, and its first call. */
export interface Candidate {
  readonly callable: Callable;
  /** Null where it was not called any more. */
  readonly call: Promise<Probed | null>;
}

/**
 * The operation to try everything else with: the first that answers with a plain result; else one that asks, subscribes, or says nothing.
 * One that needs a person's consent would need it each time.
 */
export async function pickWorkhorse(
  patience: Waiting,
  candidates: readonly Candidate[],
): Promise<Callable | null> {
  const ranked: { readonly rank: number; readonly callable: Callable }[] = [];
  const trying = candidates
    .filter(({ callable }) => callable.isHarmless)
    .map(({ callable, call }) => ({ callable, ranking: call.then(made => made && rankOf(patience, made)) }));
  for (const { callable, ranking } of trying) {
    const rank = await ranking;
    if (rank === 0) return callable;
    if (rank !== null) ranked.push({ rank, callable });
  }
  return ranked.toSorted((one, other) => one.rank - other.rank)[0]?.callable ?? null;
}

async function rankOf(patience: Waiting, { mailbox }: Probed): Promise<Rank> {
  await cameBy(
    patience,
    patience.windowMs,
    mailbox.until(letters => letters.some(isTelling)),
  );
  const { letters } = mailbox;
  if (came('oauth')(letters)) return null;
  if (came('user_choice')(letters)) return 1;
  if (letters.some(isSubscription)) return 2;
  return came('tool_result')(letters) ? 0 : 3;
}

function isTelling({ message }: Letter): boolean {
  return message?.type === 'tool_result' || message?.type === 'user_choice' || message?.type === 'oauth';
}
