import type { Exchange } from '../../events/exchange.js';
import { openChoices } from '../../events/exchange.js';
import type { UserChoice } from '../../protocol/callbacks.js';
import type { Reporter } from '../../render/outputs/reporter.js';
import { decide, type Policy, policySchema, type ToolInfo } from '../../runtime/policy.js';
import type { Answering } from '../../runtime/runtime.js';
import { ProtocolCliError } from '../../util/errors.js';
import { visibleLine } from '../../util/visible.js';
import { readText } from '../read-source.js';
import { ask, canAskUser, type Terminal } from '../terminal.js';

/** How to ask the user. */
export interface Prompts {
  readonly terminal: Terminal;
  /** Aborted when the user interrupts. */
  readonly signal: AbortSignal;
  /** Runs `work` with the terminal while nothing else draws there. */
  readonly aside: <T>(work: () => Promise<T>) => Promise<T>;
}

/** Calls run concurrently, but the user gets one question at a time. @param reporter may draw on the terminal */
export function promptsOf(
  { terminal, signal }: Pick<Prompts, 'terminal' | 'signal'>,
  reporter?: Pick<Reporter, 'aside'>,
): Prompts {
  let before: Promise<unknown> = Promise.resolve();
  return {
    ...{ terminal, signal },
    aside(work) {
      const done = before.then(() => reporter?.aside?.(work) ?? work());
      before = done.catch(() => {});
      return done;
    },
  };
}

/** Answers questions with `--choose` or by asking the user. */
export interface Chooser extends Prompts {
  /** Used one after the other; the last one answers all further questions. */
  readonly choose: readonly string[] | undefined;
  /** Lets the user select on the screen; without it the user types a line. */
  readonly pick?: Reporter['choose'];
}

type Offered = Readonly<Pick<UserChoice, 'default'>> & { readonly choices: readonly string[] };

/** Returns the index that `--choose` selects for the nth question of a call, from 0; null if it matches no choice. */
export function pickedByFlag(choose: readonly string[], question: Offered, nth: number): number | null {
  return selectedIndex(answerTo(choose, nth), question);
}

/** Returns the value of `--choose` for the nth question. */
export function answerTo(choose: readonly string[], nth: number): string {
  return choose[Math.min(nth, choose.length - 1)] ?? '';
}

/** Returns the choice that an answer selects: an index from 0, a label, or `default`. */
export function selectedIndex(answer: string, { choices, default: preset }: Offered): number | null {
  if (answer === 'default') return preset;
  const label = choices.indexOf(answer);
  if (label >= 0) return label;
  return /^\d+$/.test(answer) && Number(answer) < choices.length ? Number(answer) : null;
}

/** Whether an open question cannot be answered. */
export function isLeftOpen(exchange: Exchange, { choose, pick, terminal }: Chooser): boolean {
  if (choose !== undefined) return unmatchedAnswer(exchange, choose) !== undefined;
  return openChoices(exchange).length > 0 && pick === undefined && !canAskUser(terminal);
}

/** Returns the first `--choose` that matches no choice of an open question. */
export function unmatchedAnswer(exchange: Exchange, choose: readonly string[]): string | undefined {
  const asked = exchange.questions.flatMap(({ message }) =>
    message.type === 'user_choice' ? [message] : [],
  );
  return openChoices(exchange)
    .map(question => ({ question, nth: asked.indexOf(question) }))
    .filter(({ question, nth }) => pickedByFlag(choose, question, nth) === null)
    .map(({ nth }) => answerTo(choose, nth))[0];
}

/** Answers the questions of a call, one at a time. */
export function answeringWith({ choose, pick, terminal, aside, signal }: Chooser): Answering {
  if (choose !== undefined)
    return { by: 'flag', select: async (question, _, nth) => pickedByFlag(choose, question, nth) };
  const askOne = async (question: UserChoice, over: AbortSignal) => {
    if (over.aborted) return null;
    if (pick) return pick(question, over);
    return canAskUser(terminal) ? aside(() => askPerson(question, terminal, over)) : null;
  };
  let before: Promise<unknown> = Promise.resolve();
  return {
    by: 'person',
    select(question, over) {
      const asked = before.then(() => askOne(question, AbortSignal.any([signal, over])));
      before = asked.catch(() => {});
      return asked;
    },
  };
}

/** An empty line dismisses the question, which selects its default. */
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
    const answer = line.trim() || 'default';
    const alike = choices.flatMap((label, index) =>
      label.toLowerCase() === answer.toLowerCase() ? [index] : [],
    );
    const selected = selectedIndex(answer, question) ?? (alike.length === 1 ? alike[0] : undefined);
    if (selected !== undefined) return selected;
    terminal.stderr.write(`${visibleLine(answer)} is not one of the choices; give a number or a label.\n`);
  }
}

/**
 * Loads a policy from a YAML or JSON file; `-` is standard input.
 * @throws ProtocolCliError `unreadable-file`, with every error, its line and its path.
 */
export async function loadPolicy(path: string, { stdin }: Pick<Terminal, 'stdin'>): Promise<Policy> {
  const { readFile } = await import('../../fixtures/file-errors.js');
  return readFile(
    { path, text: await readText(path, stdin) },
    {
      where: `the policy ${path}`,
      hint: 'For example: {"version": 1, "deny": ["delete_*", {"annotation": "destructive"}]}',
      least: '`version: 1`',
      code: 'unreadable-file',
      build: source => source.parse(policySchema),
    },
  );
}

/** Why a call is denied. */
export interface Denial {
  readonly by: 'person' | 'policy';
  readonly reason: string;
}

/** What allows a call without asking. */
export interface Consent {
  readonly policy: Policy | null;
  readonly yes: boolean;
}

/** Decides whether a call is allowed: by the policy first; a destructive tool may need the user's consent. */
export function judgeCall(tool: ToolInfo, { policy, yes }: Consent): 'allowed' | 'ask' | Denial {
  const decision = decide(policy, tool);
  if (!decision.allowed) return { by: 'policy', reason: decision.reason };
  return tool.annotations?.destructive !== true || yes || decision.isNamed ? 'allowed' : 'ask';
}

/**
 * Returns why a call is denied, asking the user if needed; null if it is allowed.
 * @throws ProtocolCliError `decision-needed` without a terminal.
 */
export async function denialOf(
  tool: ToolInfo,
  args: unknown,
  consent: Consent,
  { terminal, signal, aside }: Prompts,
): Promise<Denial | null> {
  const verdict = judgeCall(tool, consent);
  if (verdict !== 'ask') return verdict === 'allowed' ? null : verdict;
  const call = `${tool.name}(${visibleLine(JSON.stringify(args))})`;
  return aside(async () => {
    if (!canAskUser(terminal))
      throw new ProtocolCliError(
        'decision-needed',
        `${call} is marked destructive and needs a confirmation, which requires a terminal`,
        { hint: 'Add --yes to call it without a question, or a --policy that allows it by name.' },
      );
    const answer = await ask(`${call} is marked destructive. Call it? [y/N] `, terminal, signal);
    return /^y(es)?$/i.test((answer ?? '').trim()) ? null : { by: 'person', reason: 'the user said no' };
  });
}
