import { setMaxListeners } from 'node:events';
import { stat } from 'node:fs/promises';
import { basename, isAbsolute } from 'node:path';
import type { Gap } from '../../check/conformance.js';
import { type Recording, recordingsOf } from '../../check/evidence.js';
import type { ProbeOptions } from '../../check/probes/run.js';
import type { Event } from '../../events/events.js';
import { createLog, type Log } from '../../events/log.js';
import type { EventRedactor } from '../../events/shareable.js';
import { missingFrom } from '../../events/transcript-reader.js';
import { lazyClient } from '../../http/client.js';
import type { RequirementId } from '../../protocol/requirements.js';
import { verboseTeller } from '../../render/wire.js';
import type { Clock } from '../../system/clock.js';
import { cameWithin } from '../../system/process.js';
import { credentialsIn, namedCredentialsIn, secretsOf } from '../../util/credentials.js';
import { ProtocolCliError } from '../../util/errors.js';
import { createRedactor, type Redactor } from '../../util/redact.js';
import { decodeUtf8 } from '../../util/text.js';
import { stringsIn } from '../../util/values.js';
import { visibleLine } from '../../util/visible.js';
import { reach } from '../rap-config.js';
import { readRecording } from '../read-recording.js';
import { readSource } from '../read-source.js';
import { aboutNow, saveTranscript, wireSecrets } from '../save-files.js';
import { deathText, StartedServers } from '../started-server.js';
import { readCredentials, readHeaders, type ServerTarget } from '../target.js';
import { type ExitStatus, type Interruption, interruption, type Terminal } from '../terminal.js';
import type { CheckPlan } from './plan.js';

/** What there is to judge, from a live run or a file. */
export interface Witness {
  /** For the report: the URL or the file. */
  readonly target: string;
  /** The file for line numbers (default: the target). */
  readonly file?: string;
  readonly recordings: readonly Recording[];
  readonly gaps: readonly Gap[];
  readonly redactor: EventRedactor;
}

/**
 * Learns the secrets of a check from its events (threats, row 25): besides those of any recording, everything a tool sends that looks
 * like a credential (TOOL-SECRET, TOOL-OAUTH), unless the call itself has sent it.
 */
export function checkedSecrets(credentials: Redactor): EventRedactor {
  const secrets = wireSecrets(credentials);
  const sent = new Map<string | undefined, readonly string[]>();
  return {
    ...secrets,
    learn(event) {
      secrets.learn(event);
      const key = event.calls?.[0];
      const found = textsIn(event).flatMap(credentialsOf);
      if (event.kind === 'request' && event.purpose === 'invocation') sent.set(key, found);
      else for (const secret of found) if (!sent.get(key)?.includes(secret)) secrets.add(secret);
    },
  };
}

function credentialsOf(text: string): readonly string[] {
  const known = credentialsIn(text).map(found => found.text.replace(/^Bearer /, ''));
  return [...known, ...namedCredentialsIn(text)];
}

function textsIn(event: Event): readonly string[] {
  const body = 'body' in event ? event.body : undefined;
  if (!body) return [];
  return body.json.ok ? stringsIn(body.json.value) : [decodeUtf8(body.bytes) ?? ''];
}

const LARGEST = 256 * 1024 * 1024;

/** Errors that are shown; the rest follow when these are fixed. */
const MOST_FAULTS = 8;

const MOST_GAPS = 50;

/** A saved transcript; what of it is missing is a gap. @throws ProtocolCliError `unreadable-file`. */
export async function readWitness(file: string, { stdin }: Pick<Terminal, 'stdin'>): Promise<Witness> {
  const name = file === '-' ? 'standard input' : file;
  const bytes = await readSource(file, stdin, LARGEST);
  const transcript = readRecording(name, bytes);
  if (!transcript) throw noTranscript(name, bytes);
  const { events, faults } = transcript;
  if (events.length === 0 && faults.length > 0)
    throw new ProtocolCliError('unreadable-file', `no line of ${name} could be read`, {
      faults: firstOf(faults, MOST_FAULTS),
    });
  const redactor = checkedSecrets(createRedactor());
  for (const event of events) redactor.learn(event);
  // One gap is enough to keep a run from being green.
  const missing = firstOf([...faults, ...missingFrom(transcript)], MOST_GAPS);
  return {
    target: name,
    recordings: events.length === 0 ? [] : recordingsOf([transcript]),
    gaps: missing.map(fault => gapOf(name, fault)),
    redactor,
  };
}

function firstOf(faults: readonly string[], most: number): readonly string[] {
  const more = faults.length - most;
  return more > 0 ? [...faults.slice(0, most), `and ${more} more`] : faults;
}

/** `line 7: not valid JSON` of a file. */
function gapOf(name: string, fault: string): Gap {
  const [, line, reason = fault] = /^line (\d+): (.*)$/s.exec(fault) ?? [];
  return { place: line === undefined ? name : `${name}:${line}`, reason };
}

/** Rules need to know what was sent, and when: other things that `render` shows are not enough. */
function noTranscript(name: string, bytes: Uint8Array): ProtocolCliError {
  const isEmpty = bytes.every(byte => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09);
  return new ProtocolCliError(
    'unreadable-file',
    `cannot check ${name}: ${isEmpty ? 'it is empty' : 'it is not a transcript'}`,
    {
      hint: 'A transcript is written by --save, by -o ndjson and by record; a single message, or a report, can only be shown: protocol-cli render.',
    },
  );
}

/** The clock and the probes; a test gives other probes. */
export interface Making {
  readonly clock: Clock;
  readonly probes: (options: ProbeOptions) => Promise<void>;
}

/** Events of a tool, until the end or until the user stopped the check. */
interface LiveWitness extends Witness {
  /** The status of the signal that came before the end. */
  readonly interrupted: ExitStatus | undefined;
}

const MAX_CALLBACK = 64 * 1024 * 1024;

/** Probes that were interrupted have this long to end. */
const LAST_WORDS_MS = 500;

/** Calls a tool with all that the probes know, and keeps what happened. Everything started is stopped, however it ends. */
export class LiveCheck {
  readonly #interrupted: Interruption;
  readonly #stops: (() => Promise<void>)[] = [];
  readonly #events: Event[] = [];
  readonly #log: Log;
  readonly #redactor: EventRedactor;

  constructor(
    private readonly target: ServerTarget,
    private readonly plan: CheckPlan,
    private readonly terminal: Terminal,
    private readonly making: Making,
  ) {
    const headers = readHeaders(plan.flags, terminal.env);
    const query = target.kind === 'url' ? [...new URL(target.url).searchParams.values()] : []; // may hold a key
    this.#redactor = checkedSecrets(createRedactor([...secretsOf(headers), ...query]));
    this.#log = createLog(() => making.clock.now());
    this.#log.subscribe(event => {
      this.#redactor.learn(event);
      this.#events.push(event);
    });
    this.#interrupted = interruption();
    setMaxListeners(0, this.#interrupted.signal); // every probe listens to it
  }

  /** @throws ProtocolCliError `unreachable`, `no-discovery` where there is nothing to check, and whatever `--save` meets. */
  async run(): Promise<LiveWitness> {
    try {
      return await this.#run();
    } finally {
      await this.#stopAll();
      this.#interrupted.release();
    }
  }

  async #run(): Promise<LiveWitness> {
    if (this.target.kind === 'url' && new URL(this.target.url).search !== '')
      this.#log.emit({ kind: 'warned', message: QUERY_UNSENT });
    const lines = new Map<number, number>();
    const finish = await this.#save(lines);
    const probing = this.#probe();
    const trouble = await this.#interrupted.race(probing).then(() => null, asTrouble);
    await this.#stopAll();
    await cameWithin(Promise.allSettled([probing]), LAST_WORDS_MS); // so that nothing happens after the end
    const interrupted = this.#interrupted.signalStatus();
    await finish(interrupted === undefined ? (trouble?.code ?? 'done') : 'interrupted');
    if (trouble && interrupted === undefined) throw trouble;
    const { save } = this.plan.flags;
    const isWhole = interrupted === undefined;
    const recording = { observer: 'runtime', events: this.#events, isWhole } as const;
    return {
      target: await nameOf(this.target),
      ...(save !== undefined && { file: save }),
      recordings: [{ ...recording, ...(save !== undefined && { lines }) }],
      gaps: [],
      redactor: this.#redactor,
      interrupted,
    };
  }

  /** `--save`. @param lines gets the line of each event */
  async #save(lines: Map<number, number>): Promise<(reason: string) => Promise<void>> {
    const about = aboutNow('runtime', this.making.clock);
    const onLine = (seq: number, line: number) => void lines.set(seq, line);
    const { stderr } = this.terminal;
    return saveTranscript(this.#log, this.plan.flags.save, this.#redactor, about, { stderr, onLine });
  }

  async #probe(): Promise<void> {
    const { plan, terminal, making } = this;
    const progress = progressOn(terminal, plan.flags.quiet === true);
    const url = await reach(this.target, {
      ...this.#serverOptions(progress),
      signal: this.#interrupted.signal,
    });
    const client = lazyClient(async () => (await import('../../http/pooled-client.js')).createAgentClient());
    this.#stops.push(
      () => client.close(),
      async () => progress.end(),
    );
    await making.probes({
      ...probeOptions(plan),
      wire: { client, log: this.#log, credentials: readCredentials(plan.flags, url, terminal.env) },
      clock: making.clock,
      url,
      onConsent: consent => progress.aside(`visit this URL to continue: ${visibleLine(consent)}\n`),
      onProgress: (done, total) => progress.update(done, total),
      signal: this.#interrupted.signal,
    });
    progress.end();
  }

  /** A started server that exits is an event; with `-v` its stderr and all messages are printed. */
  #serverOptions(progress: Progress) {
    const print = (text: string) => progress.aside(this.#redactor.text(text));
    const isVerbose = this.plan.flags.verbose === true;
    if (isVerbose) this.#log.subscribe(verboseTeller(this.#redactor, text => progress.aside(text)));
    return {
      ...new StartedServers(this.#log, () => [], isVerbose ? print : null).options,
      onDeath: (death: Parameters<typeof deathText>[0]) =>
        void this.#log.emit({ kind: 'warned', message: deathText(death) }),
      onStop: (stop: () => Promise<void>) => void this.#stops.push(stop),
    };
  }

  /** In reverse order; an error does not keep the others running. */
  async #stopAll(): Promise<void> {
    const stops = this.#stops.splice(0).reverse();
    await Promise.allSettled(stops.map(stop => stop()));
  }
}

/** What the command line says of the probes. */
function probeOptions({ flags, cases, selection: { only, skip } }: CheckPlan) {
  const { callbackHost: host, callbackPort: port, callbackUrl: publicUrl, allowHost = [] } = flags;
  const listener = { host, port, allowedHosts: allowHost, maxBody: MAX_CALLBACK };
  return {
    listener: { ...listener, ...(publicUrl !== undefined && { publicUrl }) },
    operations: flags.operation ?? [],
    cases,
    wants: (id: RequirementId) => (only?.has(id) ?? true) && !skip?.has(id),
    probeTimeoutMs: flags.probeTimeout,
  };
}

const QUERY_UNSENT =
  'the query of the URL is not sent, and in no report: a base has none; credentials go in -H or --bearer';

/** What a report calls a target; nothing of it is secret (threats, row 25). */
async function nameOf(target: ServerTarget): Promise<string> {
  if (target.kind === 'demo') return 'the bundled demo';
  return target.kind === 'command' ? programIn(target.command) : target.url.replace(/[?#].*$/s, '');
}

/** Words as a shell takes them, roughly: what is quoted is one. */
const WORD = /(?:[^\s"']|"[^"]*"|'[^']*')+/g;

const ASSIGNMENT = /^\w+=/;

/** A command for a report, which others read: its program and files. The rest may hold a secret (threats, row 25). */
export async function programIn(command: string, isFile = isFileHere): Promise<string> {
  const words = command.match(WORD) ?? [];
  const start = words.findIndex(word => !ASSIGNMENT.test(word));
  const unquoted = words.slice(start < 0 ? words.length : start).map(word => word.replaceAll(/["']/g, ''));
  const [program = '', ...rest] = unquoted;
  const files = await Promise.all(rest.map(async word => ((await isFile(word)) ? [word] : [])));
  const shown = files.flat().map(path => (isAbsolute(path) ? basename(path) : path)); // our folders are private
  return ['--command', basename(program), ...shown].join(' ').trim();
}

async function isFileHere(path: string): Promise<boolean> {
  return stat(path).then(
    found => found.isFile(),
    () => false,
  );
}

/** One line on a terminal that is overwritten, and gone at the end; nothing anywhere else. */
interface Progress {
  update(done: number, total: number): void;
  /** Prints text that stays. */
  aside(text: string): void;
  end(): void;
}

const CLEAR = '\r\u001b[2K';

export function progressOn({ stderr, env }: Pick<Terminal, 'stderr' | 'env'>, isQuiet: boolean): Progress {
  const isDrawn = stderr.isTTY === true && env['TERM'] !== 'dumb' && !isQuiet;
  let line = '';
  const draw = (text: string) => {
    if (isDrawn && text !== line) stderr.write(`${CLEAR}${text}`);
    line = text;
  };
  return {
    update: (done, total) => draw(`checking … ${done} of ${total}`),
    aside(text) {
      const shown = line;
      draw('');
      stderr.write(text);
      draw(shown);
    },
    end: () => draw(''),
  };
}

function asTrouble(error: unknown): ProtocolCliError {
  if (error instanceof ProtocolCliError) return error;
  throw error;
}
