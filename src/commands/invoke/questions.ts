import type { Exchange } from '../../events/exchange.js';
import { openChoices } from '../../events/exchange.js';
import type { UserChoice } from '../../protocol/callbacks.js';
import type { Reporter } from '../../render/outputs/reporter.js';
import { type Governed, type Policy, rulingOn } from '../../runtime/policy.js';
import type { Answering } from '../../runtime/runtime.js';
import { ProtocolCliError } from '../../util/errors.js';
import { REDACTED } from '../../util/redact.js';
import { safeJson } from '../../util/redact-json.js';
import { quoted } from '../../util/strings.js';
import { visibleLine } from '../../util/visible.js';
import { ask, isSomebodyThere, type Terminal } from '../terminal.js';
import type { Stage } from './plan.js';

/** Who answers what a tool asks: `--choose`, or the person at the terminal. */
export interface Chooser {
  /** One answer after the other; the last is given to whatever is asked after it. */
  readonly choose: readonly string[] | undefined;
  /** Lets the user pick on the screen; without it the user types a line. */
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

/** The same for `--choose`. */
export function isLeftByFlag(exchange: Exchange, choose: readonly string[] | undefined): boolean {
  return choose === undefined ? openChoices(exchange).length > 0 : unfitting(exchange, choose) !== undefined;
}

/** The first `--choose` that fits no choice of an open question. */
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

/** Answers the questions of a call; the user sees one question at a time. */
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

/** Answers from `--choose` only. */
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
    terminal.stderr.write(`${visibleLine(said)} is not one of the choices; give a number or a label.\n`);
  }
}

/** A person need not shout as the tool does; null where that is not one choice alone. */
function labelInAnyCase(said: string, choices: readonly string[]): number | null {
  const alike = choices.flatMap((label, index) =>
    label.toLowerCase() === said.toLowerCase() ? [index] : [],
  );
  return alike.length === 1 ? (alike[0] ?? null) : null;
}

/** The policy in a file, or in standard input, see {@link readPolicy}: few have one, so what reads it is loaded only then. */
export async function loadPolicy(file: string, { stdin }: Pick<Terminal, 'stdin'>): Promise<Policy> {
  const { readPolicy } = await import('./read-policy.js');
  return readPolicy(file, stdin);
}

/** Why a call is not made. */
export interface Denial {
  readonly by: 'person' | 'policy';
  readonly reason: string;
}

/** What allows a call before anybody is asked. */
export interface Consent {
  readonly policy: Policy | null;
  /** `--yes`. */
  readonly yes: boolean;
}

/**
 * Whether a call may be made: the policy first, then, of a tool that says of itself that it destroys something, the person at the
 * terminal. Null where it may.
 * @throws ProtocolCliError `decision-needed` without a terminal.
 */
export async function denialOf(
  tool: Governed,
  args: unknown,
  { policy, yes }: Consent,
  stage: Pick<Stage, 'terminal' | 'signal' | 'aside'>,
): Promise<Denial | null> {
  const ruling = rulingOn(policy, tool);
  if (!ruling.allowed) return { by: 'policy', reason: ruling.reason };
  if (tool.annotations?.destructive !== true || yes || ruling.isNamed) return null;
  return stage.aside(() => consentAskPerson(tool, args, stage));
}

async function consentAskPerson(
  tool: Governed,
  args: unknown,
  { terminal, signal }: Pick<Stage, 'terminal' | 'signal'>,
): Promise<Denial | null> {
  const call = `${tool.name}(${visibleLine(JSON.stringify(args))})`;
  if (!isSomebodyThere(terminal))
    throw new ProtocolCliError(
      'decision-needed',
      `${call} is marked destructive and needs a confirmation, but there is no terminal`,
      {
        hint: 'Add --yes to call it without a question, or a --policy that allows it by name.',
      },
    );
  const answer = (await ask(`${call} is marked destructive. Call it? [y/N] `, terminal, signal)) ?? 'no';
  return /^y(es)?$/i.test(answer.trim()) ? null : { by: 'person', reason: 'the user said no' };
}

/** A request that is not sent, as it would be; what is secret in it is left out. */
export interface DryRequest {
  readonly method: 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

/** Placeholder callback URL of a call that the user sends by hand. */
export const YOUR_CALLBACK = 'https://your-callback.example/';

/** curl takes these in a URL for a range or a list of URLs. */
const GLOBS = /[[\]{}]/;

/** The same as a command for a shell: a row for each header, and for each member of the body. */
export function curlOf({ method, url, headers, body }: DryRequest): string {
  const words = [
    `curl${GLOBS.test(url) ? ' --globoff' : ''} -X ${method}`,
    quoted(visibleLine(url)),
    ...headerLines(headers).map(header => `-H ${quoted(header)}`),
    `-d ${quoted(memberRows(body))}`,
  ];
  return words.join(' \\\n  ');
}

/** What has to be put in before the command can be run, by its names. */
export function gapsIn({ headers, body }: Pick<DryRequest, 'headers' | 'body'>): readonly string[] {
  const isOpen = (value: unknown) => value === YOUR_CALLBACK || safeJson(value ?? null).includes(REDACTED);
  return [...Object.entries(body), ...Object.entries(headers)].flatMap(([name, value]) =>
    isOpen(value) ? [name] : [],
  );
}

/** The request as a person reads it, then its command. */
export function requestText(request: DryRequest, byHand = request): string {
  const { method, url, headers, body } = request;
  const head = [`${method} ${visibleLine(url)}`, ...headerLines(headers)].join('\n');
  return `${head}\n\n${safeJson(body, 2)}\n\n${curlOf(byHand)}\n`;
}

function headerLines(headers: DryRequest['headers']): string[] {
  return Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
}

function memberRows(body: object): string {
  const rows = Object.entries(body).map(([name, value]) => `  ${safeJson(name)}: ${safeJson(value)}`);
  return `{\n${rows.join(',\n')}\n}`;
}
