import type { History } from '../exchange/history.js';
import type { UserChoice } from '../protocol/callbacks/index.js';
import type { Invocation } from '../protocol/invocation.js';
import { respondToChoice } from './notices.js';
import type { Wire } from './wire.js';

/** Who answers what a tool asks. */
export interface Answering {
  readonly by: 'person' | 'flag' | 'policy';
  /**
   * The index of the choice; null where nobody answers.
   * @param signal aborted once the answer is not wanted any more
   */
  readonly select: (question: UserChoice, signal: AbortSignal) => Promise<number | null>;
}

/**
 * Answers each question of a call as it comes, and POSTs the selection (RT-CHOICE). Returns how to stop: that resolves once the
 * selections on their way have arrived, or have not.
 */
export function answerQuestions(
  wire: Wire,
  history: History,
  { id: key, group_id: thread }: Pick<Invocation, 'id' | 'group_id'>,
  { by, select }: Answering,
): () => Promise<void> {
  const { log } = wire;
  const over = new AbortController();
  const answers = new Set<Promise<void>>();
  const answer = async (leg: string, question: UserChoice) => {
    const selected = await select(question, over.signal);
    if (selected === null || over.signal.aborted) return;
    log.emit({ kind: 'decided', what: 'choice', by, value: selected, question: leg, calls: [key] });
    await respondToChoice(wire, question.response_url, { key, thread }, { id: question.id, selected });
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
    await Promise.all(answers);
  };
}
