import { setMaxListeners } from 'node:events';
import type { History } from '../exchange/history.js';
import type { UserChoice } from '../protocol/callbacks/index.js';
import type { Invocation } from '../protocol/invocation.js';
import type { Clock } from '../system/clock.js';
import { respondToChoice } from './notices.js';
import type { Wire } from './wire.js';

/** Who answers what a tool asks. */
export interface Answering {
  readonly by: 'person' | 'flag' | 'policy';
  /**
   * The index of the choice; null where nobody answers.
   * @param signal aborted once the answer is not wanted any more
   * @param nth question of its call, from 0
   */
  readonly select: (question: UserChoice, signal: AbortSignal, nth: number) => Promise<number | null>;
}

/** A selection that is on its way when the call is over may still arrive. */
const PARTING_MS = 1_000;

/**
 * Answers each question of a call as it comes, and POSTs the selection (RT-CHOICE). Returns how to stop: that resolves soon, once the
 * selections on their way have arrived, or have not.
 */
export function answerQuestions(
  wire: Wire,
  history: History,
  { id: key, group_id: thread }: Pick<Invocation, 'id' | 'group_id'>,
  { by, select }: Answering,
  clock: Clock,
): () => Promise<void> {
  const { log } = wire;
  const over = new AbortController();
  const parted = new AbortController();
  setMaxListeners(0, over.signal, parted.signal); // every question that is open listens to them
  const answers = new Set<Promise<void>>();
  let asked = 0;
  const answer = async (leg: string, question: UserChoice) => {
    const selected = await select(question, over.signal, asked++);
    if (selected === null || over.signal.aborted) return;
    log.emit({ kind: 'decided', what: 'choice', by, value: selected, question: leg, calls: [key] });
    const call = { key, thread, signal: parted.signal };
    await respondToChoice(wire, question.response_url, call, { id: question.id, selected });
  };
  const unanswered = (error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    log.emit({ kind: 'warned', message: `nobody answered the tool's question: ${why}`, calls: [key] });
  };
  const unsubscribe = log.subscribe(event => {
    if (!event.calls?.includes(key)) return;
    const exchange = history.exchanges.get(key);
    if (exchange?.settled) over.abort();
    if (event.kind !== 'response') return;
    const arrival = exchange?.arrivals.findLast(({ leg }) => leg === event.leg);
    if (arrival?.verdict.kind !== 'holds') return; // what came is no question, or one that is asked already
    if (arrival.message?.type !== 'user_choice') return;
    const answered = answer(arrival.leg, arrival.message)
      .catch(unanswered)
      .finally(() => answers.delete(answered));
    answers.add(answered);
  });
  return async () => {
    over.abort();
    unsubscribe();
    const stopWaiting = clock.after(PARTING_MS, () => parted.abort());
    await Promise.all(answers);
    stopWaiting();
  };
}
