import type { Desk } from '../desk.js';
import type { Letter, Mailbox } from '../mailbox.js';
import { choose } from './choice.js';
import { consent } from './consent.js';
import type { Conversing, Flow } from './flow.js';
import { leaveSubscription } from './subscription.js';

/** Goes along with what a tool wants, within bounds: it may ask forever. */
const MOST_QUESTIONS = 3;

const FLOWS: readonly Flow[] = [choose, consent, leaveSubscription];

/** Answers what a call's tool asks, as it comes. Returns how to wait for what was begun. */
export function goAlong(desk: Desk, call: Conversing): () => Promise<void> {
  const begun: Promise<void>[] = [];
  call.mailbox.subscribe(letter => {
    if (!isNews(letter, call.mailbox)) return;
    for (const flow of FLOWS) {
      const under = begun.length < MOST_QUESTIONS ? flow(desk, call, letter) : undefined;
      if (under) begun.push(under);
    }
  });
  return async () => void (await Promise.all(begun));
}

/** What was not taken comes again, and what was taken may. */
function isNews(letter: Letter, { letters }: Mailbox): boolean {
  const before = letters.find(({ sha256, isTaken }) => isTaken && sha256 === letter.sha256);
  return before === letter;
}
