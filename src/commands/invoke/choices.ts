import type { Exchange } from '../../exchange/exchange.js';
import { openChoices } from '../../exchange/questions.js';
import type { UserChoice } from '../../protocol/callbacks/index.js';
import type { Reporter } from '../../reporters/reporter.js';
import type { Answering } from '../../runtime/questions.js';
import { visibleLine } from '../../text/visible.js';
import { ask, isSomebodyThere } from '../ask.js';
import type { Terminal } from '../terminal.js';
import type { Stage } from './locate.js';

/** Who answers what a tool asks: `--choose`, or the person at the terminal. */
export interface Chooser {
  readonly choose: string | undefined;
  /** How the person picks, where whoever draws on the terminal offers it; else they are asked for a line. */
  readonly pick?: Reporter['choose'];
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
export function isLeftOpen(exchange: Exchange, { choose, pick, terminal }: Chooser): boolean {
  if (choose !== undefined) return isLeftByFlag(exchange, choose);
  return openChoices(exchange).length > 0 && pick === undefined && !isSomebodyThere(terminal);
}

/** The same where `--choose` answers, or nobody. */
export function isLeftByFlag(exchange: Exchange, choose: string | undefined): boolean {
  return openChoices(exchange).some(
    question => choose === undefined || selectedIndex(choose, question) === null,
  );
}

/** The chooser as whoever answers a call's questions; a person is asked one thing after the other. */
export function answeringWith(chooser: Chooser): Answering {
  const { choose, signal } = chooser;
  if (choose !== undefined) return answeringByFlag(choose);
  let before: Promise<unknown> = Promise.resolve();
  const select: Answering['select'] = (question, over) => {
    const asked = before.then(() => askWhoIsThere(question, chooser, AbortSignal.any([signal, over])));
    before = asked.catch(() => {});
    return asked;
  };
  return { by: 'person', select };
}

/** `--choose`, or nobody. */
export function answeringByFlag(choose: string | undefined): Answering {
  const select = async (question: UserChoice) =>
    choose === undefined ? null : selectedIndex(choose, question);
  return { by: 'flag', select };
}

async function askWhoIsThere(
  question: UserChoice,
  { pick, terminal, aside }: Chooser,
  signal: AbortSignal,
): Promise<number | null> {
  if (signal.aborted) return null;
  if (pick) return pick(question, signal);
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
