import type { ListenerOptions } from '../../runtime/callback-server.js';
import { sessionUrl } from '../../session/client/platform-client.js';
import { ProtocolCliError } from '../../util/errors.js';
import { readTarget } from '../target.js';
import { canDraw, type Terminal } from '../terminal.js';

export const ANSWER_OUTPUTS = ['ui', 'plain', 'json', 'ndjson'] as const;
export type AnswerOutput = (typeof ANSWER_OUTPUTS)[number];

/** The options of `session answer`, as commander hands them over. */
export interface AnswerFlags {
  readonly key?: string;
  /** Milliseconds; 0 waits for ever. */
  readonly wait: number;
  readonly tool?: string;
  readonly fixtures?: readonly string[];
  readonly handlers?: string;
  readonly seed?: string;
  /** Milliseconds; 0 waits for ever. */
  readonly timeout: number;
  /** A file. */
  readonly policy?: string;
  readonly yes?: true;
  readonly choose?: readonly string[];
  readonly toolHeader?: readonly string[];
  readonly toolBearer?: string;
  readonly parseJson?: true;
  readonly validate: boolean;
  readonly retries: number;
  readonly lenientAck?: true;
  readonly callbackHost: string;
  readonly callbackPort: number;
  readonly callbackUrl?: string;
  readonly allowHost?: readonly string[];
  readonly maxBody: number;
  readonly supports: ReadonlySet<string>;
  readonly output?: AnswerOutput;
  readonly save?: string;
  readonly quiet?: true;
  readonly verbose?: true;
  readonly color: boolean;
}

/** Who answers. */
export type Source =
  | { readonly kind: 'tool'; readonly url: string }
  | { readonly kind: 'local'; readonly fixtures: readonly string[]; readonly handlers: string | null };

/** What is to be done, before anything is asked. */
export interface AnswerPlan {
  readonly id: string;
  /** Of the session: `…/api/v2/sessions/{id}`. */
  readonly url: string;
  readonly key: string;
  readonly source: Source;
  readonly output: AnswerOutput;
  readonly flags: AnswerFlags;
}

/** @throws ProtocolCliError `usage`. */
export function planAnswer(
  [base, id]: readonly [base: string, id: string],
  flags: AnswerFlags,
  terminal: Terminal,
): AnswerPlan {
  return {
    id,
    url: sessionUrl(readUrl(base, 'the platform'), id),
    source: sourceOf(flags),
    key: keyFor(flags, terminal.env),
    output: outputFor(flags, terminal),
    flags,
  };
}

export function listenerOf({ flags }: AnswerPlan): ListenerOptions {
  const { callbackHost: host, callbackPort: port, callbackUrl, allowHost = [], maxBody } = flags;
  const publicUrl = callbackUrl === undefined ? {} : { publicUrl: callbackUrl };
  return { host, port, allowedHosts: allowHost, maxBody, ...publicUrl };
}

function sourceOf(flags: AnswerFlags): Source {
  const { tool, fixtures = [], handlers = null } = flags;
  const isLocal = fixtures.length > 0 || handlers !== null;
  if (tool !== undefined && isLocal)
    throw usage('--tool and --fixtures or --handlers exclude each other', WHO_ANSWERS);
  if (tool !== undefined) return { kind: 'tool', url: readUrl(tool, 'the tool') };
  if (!isLocal) throw usage('choose one of --tool, --fixtures, --handlers', WHO_ANSWERS);
  const { toolHeader, toolBearer, parseJson, lenientAck, callbackUrl } = flags;
  const alone = Object.entries({ toolHeader, toolBearer, parseJson, lenientAck, callbackUrl });
  const [stray] = alone.flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (stray !== undefined) throw usage(`${optionName(stray)} is for --tool`);
  return { kind: 'local', fixtures, handlers };
}

const WHO_ANSWERS = 'Give --tool <url of a RAP tool>, or --fixtures <file>, or --handlers <module>.';

/** A URL, or what curl would take for one. */
function readUrl(word: string, whose: string): string {
  const { target } = readTarget([word], {});
  if (target?.kind === 'url') return target.url;
  throw usage(`invalid URL of ${whose}: ${word}`, 'Write http://host:port, or :port for this machine.');
}

/** Secrets on a command line can be seen by others on the machine: the environment is the better place. */
function keyFor({ key }: AnswerFlags, env: Terminal['env']): string {
  const name = key?.startsWith('env:') ? key.slice('env:'.length) : null;
  const value = key === undefined ? env['API_KEY'] || env['HAI_API_KEY'] : name === null ? key : env[name];
  if (value) return value;
  if (name !== null) throw usage(`--key: the environment variable ${name} is not set`);
  throw usage('no API key', 'Set API_KEY or HAI_API_KEY in the environment, or give --key.');
}

function outputFor({ output }: AnswerFlags, terminal: Terminal): AnswerOutput {
  if (output === 'ui' && !canDraw(terminal))
    throw usage('-o ui needs a terminal of at least 40×8 on stdin and stdout, outside CI', 'Use -o plain.');
  return output ?? (canDraw(terminal) ? 'ui' : 'plain');
}

function optionName(name: string): string {
  return `--${name.replace(/[A-Z]/g, capital => `-${capital.toLowerCase()}`)}`;
}

function usage(message: string, hint?: string): ProtocolCliError {
  return new ProtocolCliError('usage', message, hint === undefined ? {} : { hint });
}
