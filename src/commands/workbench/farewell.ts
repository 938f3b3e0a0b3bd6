import { setMaxListeners } from 'node:events';
import { canBeGivenUp, type Exchange } from '../../exchange/exchange.js';
import { giveUp } from '../../runtime/give-up.js';
import { closeThread } from '../../runtime/notices.js';
import type { Clock } from '../../system/clock.js';
import type { Found } from './place.js';

/** Whoever quits does not wait longer than this, in ms, for tools to hear of it. */
const FAREWELL_MS = 2_000;
/** At the end many may have to be told something. */
const SIDE_BY_SIDE = 64;

/** What is left behind. */
export interface Left {
  readonly calls: readonly { readonly exchange: Exchange; readonly at: Found }[];
  /** Of our own making. */
  readonly threads: readonly string[];
  /** Each hears of each thread that is over (RT-NOTIFY). */
  readonly servers: readonly Found[];
}

/** Gives up what is under way, then closes the threads. Never rejects; whoever does not answer soon is not waited for. */
export async function bidFarewell({ calls, threads, servers }: Left, clock: Clock): Promise<void> {
  const parting = new AbortController();
  const { signal } = parting;
  setMaxListeners(0, signal); // everybody who is told listens to it
  const stopWaiting = clock.after(FAREWELL_MS, () => parting.abort());
  await sideBySide(
    calls.filter(({ exchange }) => canBeGivenUp(exchange)),
    ({ exchange, at: { wire, discovered } }) => giveUp(wire, discovered.base, exchange, 'person', { signal }),
  );
  const notices = threads.flatMap(thread => servers.map(server => ({ thread, ...server })));
  await sideBySide(notices, async ({ thread, wire, discovered }) => {
    if (!signal.aborted) await closeThread(wire, discovered.base, thread, { signal });
  });
  stopWaiting();
}

async function sideBySide<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const left = items.values();
  const worker = async () => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, worker));
}
