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
  /** One answer after the other; the last is given to whatever is asked after it. */
  readonly choose: readonly string[] | undefined;
  /** How the person picks, where whoever draws on the terminal offers it; else they are asked for a line. */
  readonly pick?: Reporter['choose'];
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  readonly aside: Stage['aside'];
}

/** What there is to pick from. */
interface Offered {
  readonly choices: readonly string[];
  readonly default: number;
}

/** The index that the answers of `--choose` pick of the nth question of a call, from 0; null where that fits none of its choices. */
export function pickedByFlag(choose: readonly string[], question: Offered, nth: number): number | null {
  const said = saidTo(choose, nth);
  return said === undefined ? null : selectedIndex(said, question);
}

/** The index that an answer picks: an index from 0, a label, or `default`; null where it fits none of the choices. */
export function selectedIndex(choose: string, { choices, default: preset }: Offered): number | null {
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
export function isLeftByFlag(exchange: Exchange, choose: readonly string[] | undefined): boolean {
  return choose === undefined ? openChoices(exchange).length > 0 : unfitting(exchange, choose) !== undefined;
}

/** What `--choose` says to an open question, though it is none of its choices; undefined where all fit. */
export function unfitting(exchange: Exchange, choose: readonly string[]): string | undefined {
  const asked = exchange.questions.flatMap(({ message }) =>
    message.type === 'user_choice' ? [message] : [],
  );
  const question = openChoices(exchange).find(
    each => pickedByFlag(choose, each, asked.indexOf(each)) === null,
  );
  return question && saidTo(choose, asked.indexOf(question));
}

/** The answer of `--choose` to the nth question; the last one answers all that follow. */
export function saidTo(choose: readonly string[], nth: number): string | undefined {
  return choose[Math.min(nth, choose.length - 1)];
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
export function answeringByFlag(choose: readonly string[] | undefined): Answering {
  const select: Answering['select'] = async (question, _, nth) =>
    choose === undefined ? null : pickedByFlag(choose, question, nth);
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
    const said = line.trim() || 'default';
    const selected = selectedIndex(said, question) ?? labelInAnyCase(said, choices);
    if (selected !== null) return selected;
    terminal.stderr.write(`${visibleLine(said)} is none of the choices: give its number, or its label.\n`);
  }
}

/** A person need not shout as the tool does; null where that is not one choice alone. */
function labelInAnyCase(said: string, choices: readonly string[]): number | null {
  const alike = choices.flatMap((label, index) =>
    label.toLowerCase() === said.toLowerCase() ? [index] : [],
  );
  return alike.length === 1 ? (alike[0] ?? null) : null;
}
