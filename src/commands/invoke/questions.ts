import { type Exchange, openChoices } from '../../events/exchange.js';
import type { UserChoice } from '../../protocol/callbacks.js';
import type { AskForChoice } from '../../render/outputs/reporter.js';
import type { Answering } from '../../runtime/runtime.js';
import { visibleLine } from '../../util/visible.js';
import type { Prompts } from '../terminal.js';

type Offered = Readonly<Pick<UserChoice, 'default'>> & { readonly choices: readonly string[] };

/** Answers the questions of calls: with `--choose`, or by asking the user. */
export class Chooser implements Answering {
  readonly by: 'flag' | 'person';

  constructor(
    readonly prompts: Prompts,
    /** Used one after the other in each call; the last one answers all further questions. */
    private readonly choose: readonly string[] | undefined,
    /** Lets the user select on the screen; without it the user types a line. */
    readonly pick?: AskForChoice,
  ) {
    this.by = choose === undefined ? 'person' : 'flag';
  }

  /** Returns the value of `--choose` for the nth question of a call, from 0. */
  flag(nth: number): string | undefined {
    return this.choose && (this.choose[Math.min(nth, this.choose.length - 1)] ?? '');
  }

  async select(question: UserChoice, over: AbortSignal, nth: number): Promise<number | null> {
    const flag = this.flag(nth);
    if (flag !== undefined) return selectedIndex(flag, question);
    const { prompts, pick } = this;
    if (pick) return pick(question, AbortSignal.any([prompts.signal, over]));
    return prompts.canAsk ? prompts.lendTerminal(() => askOnTerminal(question, prompts, over)) : null;
  }

  /** Whether an open question cannot be answered. */
  isLeftOpen(exchange: Exchange): boolean {
    if (this.choose) return this.unmatched(exchange) !== undefined;
    return openChoices(exchange).length > 0 && this.pick === undefined && !this.prompts.canAsk;
  }

  /** Returns the first `--choose` that matches no choice of an open question. */
  unmatched(exchange: Exchange): string | undefined {
    const asked = exchange.questions.flatMap(({ message }) =>
      message.type === 'user_choice' ? [message] : [],
    );
    return openChoices(exchange)
      .map(question => ({ question, flag: this.flag(asked.indexOf(question)) ?? '' }))
      .find(({ question, flag }) => selectedIndex(flag, question) === null)?.flag;
  }
}

/** Returns the choice that an answer selects: an index from 0, a label, or `default`. */
export function selectedIndex(answer: string, { choices, default: preset }: Offered): number | null {
  if (answer === 'default') return preset;
  const label = choices.indexOf(answer);
  if (label >= 0) return label;
  return /^\d+$/.test(answer) && Number(answer) < choices.length ? Number(answer) : null;
}

/** An empty line dismisses the question, which selects its default. */
async function askOnTerminal(
  question: UserChoice,
  prompts: Prompts,
  over: AbortSignal,
): Promise<number | null> {
  if (over.aborted || prompts.signal.aborted) return null;
  const { prompt, choices, default: preset } = question;
  const list = choices.map(
    (choice, index) => `  ${index} ${visibleLine(choice)}${index === preset ? ' (default)' : ''}\n`,
  );
  prompts.show(`${visibleLine(prompt)}\n${list.join('')}`);
  for (;;) {
    const line = await prompts.ask(`Your choice [${preset}] `, over);
    if (line === null) return over.aborted || prompts.signal.aborted ? null : preset;
    const answer = line.trim() || 'default';
    const alike = choices.flatMap((label, index) =>
      label.toLowerCase() === answer.toLowerCase() ? [index] : [],
    );
    const selected = selectedIndex(answer, question) ?? (alike.length === 1 ? alike[0] : undefined);
    if (selected !== undefined) return selected;
    prompts.show(`${visibleLine(answer)} is not one of the choices; give a number or a label.\n`);
  }
}
