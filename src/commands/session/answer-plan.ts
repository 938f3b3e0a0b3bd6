import type { Log } from '../../events/log.js';
import type { EventRedactor } from '../../events/shareable.js';
import type { HttpClient } from '../../http/client.js';
import type { Warning } from '../../protocol/requirements.js';
import type { KnownSession, SessionReporter } from '../../render/outputs/session/report.js';
import type { ListenerOptions } from '../../runtime/callback-server.js';
import type { Governed } from '../../runtime/policy.js';
import type { Answerer } from '../../session/client/pending-calls.js';
import { sessionUrl } from '../../session/client/platform-client.js';
import type { Clock } from '../../system/clock.js';
import type { Denial } from '../invoke/questions.js';
import { type ANSWER_OUTPUTS, usage } from '../options.js';
import { readHeaders, readTarget } from '../target.js';
import { canDraw, type Interruption, type OnStop, type Terminal } from '../terminal.js';

export type AnswerOutput = (typeof ANSWER_OUTPUTS)[number];

/** The options of `session answer`, as commander hands them over. */
export interface AnswerFlags {
  readonly key?: string;
  /** Milliseconds; 0 waits forever. */
  readonly wait: number;
  readonly tool?: string;
  readonly fixtures?: readonly string[];
  readonly handlers?: string;
  readonly seed?: string;
  /** Milliseconds; 0 waits forever. */
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

type Source =
  | { readonly kind: 'tool'; readonly url: string }
  | { readonly kind: 'local'; readonly fixtures: readonly string[]; readonly handlers: string | null };

export interface AnswerPlan {
  readonly id: string;
  /** Of the session: `…/api/v2/sessions/{id}`. */
  readonly url: string;
  readonly key: string;
  readonly source: Source;
  readonly output: AnswerOutput;
  readonly flags: AnswerFlags;
}

/** The log of both sides, and what reads it: the folds, the reporter, the transcript. */
export interface Observation {
  readonly log: Log;
  readonly known: KnownSession;
  readonly redactor: EventRedactor;
  readonly reporter: SessionReporter;
  /** The terminal whose stderr redacts secrets: questions quote platforms and tools, which may echo them (threats, row 25). */
  readonly terminal: Terminal;
  /** Ends the transcript, if there is one. @throws ProtocolCliError `unwritable-file`. */
  finish(reason: string): Promise<void>;
}

/** What an answerer works with. */
export interface Setting {
  readonly plan: AnswerPlan;
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly client: HttpClient;
  readonly observation: Observation;
  readonly interrupted: Interruption;
  /** Why a call may not be made; null if it may. */
  readonly governing: (tool: Governed, args: unknown) => Promise<Denial | null>;
  readonly onStop: OnStop;
}

/** An answerer that was started for one session, and is stopped after it. */
export interface ToolAnswerer extends Answerer {
  /** Warnings before the first call. */
  readonly notes: readonly Warning[];
  /** Resolves once nothing of ours goes on. */
  close(): Promise<void>;
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
    throw usage('--tool and --fixtures or --handlers exclude each other', ANSWERERS);
  if (tool !== undefined) return { kind: 'tool', url: readUrl(tool, 'the tool') };
  if (!isLocal) throw usage('choose one of --tool, --fixtures, --handlers', ANSWERERS);
  const ofTools = {
    '--tool-header': flags.toolHeader,
    '--tool-bearer': flags.toolBearer,
    '--parse-json': flags.parseJson,
    '--lenient-ack': flags.lenientAck,
    '--callback-url': flags.callbackUrl,
  };
  const [stray] = Object.entries(ofTools).find(([, value]) => value !== undefined) ?? [];
  if (stray !== undefined) throw usage(`${stray} is for --tool`);
  return { kind: 'local', fixtures, handlers };
}

const ANSWERERS = 'Give --tool <url of a RAP tool>, or --fixtures <file>, or --handlers <module>.';

function readUrl(word: string, whose: string): string {
  const { target } = readTarget([word], {});
  if (target?.kind === 'url') return target.url;
  throw usage(`invalid URL of ${whose}: ${word}`, 'Write http://host:port, or :port for this machine.');
}

/** Other users of the machine can see a command line: the environment is the better place. */
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

/** Headers for the tool's own origin only. @throws ProtocolCliError `usage`. */
export function toolHeaders({ flags }: AnswerPlan, { env }: Pick<Terminal, 'env'>): Record<string, string> {
  const { toolHeader: header, toolBearer: bearer } = flags;
  const given = { ...(header && { header }), ...(bearer !== undefined && { bearer }) };
  return readHeaders(given, env, { header: '--tool-header', bearer: '--tool-bearer' });
}
