import type { Exchange } from '../../exchange/exchange.js';
import type { History } from '../../exchange/history.js';
import type { UserChoice } from '../../protocol/callbacks/index.js';
import type { Invocation } from '../../protocol/invocation.js';
import { respondToChoice } from '../../runtime/notices.js';
import type { Wire } from '../../runtime/wire.js';
import { visibleLine } from '../../text/visible.js';
import { ask, isSomebodyThere } from '../ask.js';
import type { Terminal } from '../terminal.js';
import type { Stage } from './locate.js';

/** Who answers what a tool asks: `--choose`, or the person at the terminal. */
export interface Chooser {
  readonly choose: string | undefined;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  readonly aside: Stage['aside'];
}

/** The index that `--choose` picks: an index from 0, a label, or `default`; null where it fits none of the choices. */
export function selectedIndex(choose: string, { choices, default: preset }: UserChoice): number | null {
  if (choose === 'default') return preset;
  const label = choices.indexOf(choose);
  if (label >= 0) return label;
  return /^\d+$/.test(choose) && Number(choose) < choices.length ? Number(choose) : null;
}

/** Whether a pending question will stay without an answer. */
export function isLeftOpen({ waitingFor }: Exchange, { choose, terminal }: Chooser): boolean {
  if (waitingFor?.type !== 'user_choice') return false;
  return choose === undefined ? !isSomebodyThere(terminal) : selectedIndex(choose, waitingFor) === null;
}

/** Answers each question of a call as it comes, and POSTs the selection (RT-CHOICE). Returns how to stop. */
export function answerChoices(
  wire: Wire,
  history: History,
  { id: key, group_id: thread }: Invocation,
  chooser: Chooser,
): () => void {
  const { log } = wire;
  const over = new AbortController();
  const answer = async (question: UserChoice) => {
    const by = chooser.choose === undefined ? 'person' : 'flag';
    const selected = await select(question, chooser, AbortSignal.any([chooser.signal, over.signal]));
    if (selected === null) return;
    log.emit({ kind: 'decided', what: 'choice', by, value: selected, calls: [key] });
    await respondToChoice(wire, question.response_url, { key, thread }, { id: question.id, selected });
  };
  const unsubscribe = log.subscribe(event => {
    if (event.kind !== 'response' || !event.calls?.includes(key)) return;
    const exchange = history.exchanges.get(key);
    if (exchange?.settled) over.abort();
    if (exchange?.arrivals.at(-1)?.leg !== event.leg) return; // the answer to something older
    if (exchange.waitingFor?.type === 'user_choice') void answer(exchange.waitingFor);
  });
  return () => {
    over.abort();
    unsubscribe();
  };
}

async function select(
  question: UserChoice,
  { choose, terminal, aside }: Chooser,
  signal: AbortSignal,
): Promise<number | null> {
  if (choose !== undefined) return selectedIndex(choose, question);
  return isSomebodyThere(terminal) ? aside(() => askPerson(question, terminal, signal)) : null;
}

/** An empty line dismisses the question, which means its default. */
async function askPerson(
  question: UserChoice,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<number | null> {
  const { prompt, choices, default: preset } = question;
  const list = choices.map(
    (choice, index) => `  ${index} ${visibleLine(choice)}${index === preset ? ' (default)' : ''}\n`,
  );
  terminal.stderr.write(`${visibleLine(prompt)}\n${list.join('')}`);
  for (;;) {
    const line = await ask(`Your choice [${preset}] `, terminal, signal);
    if (line === null) return signal.aborted ? null : preset;
    const selected = selectedIndex(line.trim() || 'default', question);
    if (selected !== null) return selected;
  }
}
