import type { Readable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { messageOf, ProtocolCliError } from '../util/errors.js';
import { parseJson } from '../util/json.js';
import { LIMITS } from '../util/limits.js';
import { formatDuration, truncate } from '../util/text.js';
import { isRecord } from '../util/values.js';
import { type CommandOptions, Group, LAST_OUTPUT_MS, missingFileHint } from './child.js';
import { finishedWithin } from './clock.js';
import { type Exit, endText } from './exit.js';

export interface StartOptions extends CommandOptions {
  readonly command: string;
  readonly readyWithinMs?: number;
  /** Resolves to the server's URL as soon as it answers there; without it, the server prints its port. */
  readonly answering?: (signal: AbortSignal) => Promise<string>;
  readonly signal?: AbortSignal;
  /** Receives remarks about the start: what came before the port, and that it takes long. */
  readonly onRemark?: (text: string) => void;
}

export interface StartedCommand {
  readonly url: string;
  readonly exited: Promise<Exit>;
  /** The last lines of its stderr, after the error if that is earlier. */
  readonly lastLines: () => string[];
  /** Interrupts the command and its descendants, and kills what is left after 2 s. */
  stop(): Promise<void>;
}

const READY_MS = 10_000;

/** The pause between two remarks about a start that takes long, in ms. */
const REMARK_MS = 5_000;

const INTERRUPT = [['SIGINT', 2_000]] as const;

/**
 * Starts a server and waits until it is ready: for the first line of its stdout that is an object with a port, as `{"port":3001}`, or
 * for `answering`. Other output is dropped. The command ends with this process.
 * @throws ProtocolCliError `command-failed`, with its exit status and the last lines of its stderr.
 */
export async function startCommand({
  readyWithinMs = READY_MS,
  signal,
  env,
  ...options
}: StartOptions): Promise<StartedCommand> {
  const { answering, onRemark, ...command } = options;
  const group = new Group({ ...command, env: { ...env, RAP_EMBEDDED: '1' } });
  group.child.stdin.end();
  const stop = () => group.stop(INTERRUPT);
  const cancel = () => void stop();
  signal?.addEventListener('abort', cancel, { once: true });
  const lastLines = () => group.lastLines();
  const output = new StartOutput(group.child.stdout);
  const begun = performance.now();
  const remarks = setInterval(() => {
    const seconds = Math.round((performance.now() - begun) / 1000);
    onRemark?.(`still starting after ${seconds}s: ${lastLines().at(-1) ?? (output.last || command.command)}`);
  }, REMARK_MS);
  try {
    const url = await readyUrl(group, output, readyWithinMs, answering);
    if (!answering && output.skipped > 0) onRemark?.(`${output.skippedText()} came before the port`);
    return { url, stop, exited: group.exited, lastLines };
  } catch (problem) {
    const ending = await endingOf(group.exited);
    const faults = lastLines(); // before it writes about our signal
    await stop();
    const message = `the command "${command.command}" did not start: ${group.problem ?? messageOf(problem)}${ending}`;
    const isSilent = output.isEmpty && (ending !== '' || group.problem !== null);
    const must = answering ? 'must answer at the given URL' : READY_LINE;
    const hint = portHint(faults) ?? (isSilent ? silentHint(faults, must, command.cwd) : readyHint(must));
    throw new ProtocolCliError('command-failed', message, { faults, hint, cause: problem });
  } finally {
    clearInterval(remarks);
    signal?.removeEventListener('abort', cancel);
  }
}

/** @throws Error if the command ends, or is not ready in time */
async function readyUrl(
  { child, exited }: Group,
  output: StartOutput,
  ms: number,
  answering: StartOptions['answering'],
): Promise<string> {
  const waiting = new AbortController();
  const broken = new Promise<never>((_, reject) => child.once('error', reject));
  const ended = exited.then((): never => {
    throw new Error('it ended before it answered');
  });
  const printed = output.port.then(port => `http://127.0.0.1:${port}`);
  const ready = answering ? Promise.race([answering(waiting.signal), ended]) : printed;
  for (const unused of [ended, printed]) unused.catch(() => {}); // the other one decides
  try {
    const url = Promise.race([ready, broken]);
    if (await finishedWithin(url, ms)) return await url;
  } finally {
    waiting.abort();
  }
  const wait = `it was not ready within ${formatDuration(ms)} (--ready-timeout)`;
  throw new Error(output.skipped > 0 && !answering ? `${wait}; ${output.skippedText()} came` : wait);
}

const WROTE_NOTHING = 'it wrote nothing to stdout';

/** The stdout of a server while it starts: banners and debug lines may come before its port. */
class StartOutput {
  /** Rejects if the output ends before it. */
  readonly port: Promise<number>;
  /** The last line without the port. */
  last = '';
  /** The number of lines without the port; empty ones do not count. */
  skipped = 0;
  isEmpty = true;
  #first = '';

  constructor(stream: Readable) {
    this.port = new Promise((resolve, reject) => {
      let rest = '';
      const take = (text: string) => {
        this.isEmpty = false;
        const lines = (rest + text).split('\n').map(line => line.slice(0, LIMITS.startLineChars.value));
        rest = lines.pop() ?? '';
        for (const line of lines) {
          const port = this.#portIn(line);
          if (port === null) continue;
          stream.off('data', take).resume();
          return port instanceof Error ? reject(port) : resolve(port);
        }
      };
      const end = () => {
        const port = this.#portIn(rest);
        if (typeof port === 'number') return resolve(port);
        reject(port ?? new Error(this.skipped === 0 ? WROTE_NOTHING : `${NO_PORT}: ${this.skippedText()}`));
      };
      stream.setEncoding('utf8').on('data', take).once('close', end);
    });
  }

  /** `3 lines, the first: "[GIN-debug] …"` */
  skippedText(): string {
    const first = JSON.stringify(truncate(this.#first, MAX_QUOTED));
    return this.skipped === 1 ? `the line ${first}` : `${this.skipped} lines, the first ${first}`;
  }

  /** Null if the line does not name a port; an error if it names an invalid one. */
  #portIn(text: string): number | Error | null {
    const line = stripVTControlCharacters(text).trim();
    const reading = line.startsWith('{') ? parseJson(line) : null;
    if (reading?.ok && isRecord(reading.value) && 'port' in reading.value) {
      const { port } = reading.value;
      if (typeof port === 'number' && Number.isInteger(port) && port >= 1 && port <= 65_535) return port;
      return new Error(`the "port" is not a number from 1 to 65535: ${truncate(line, MAX_QUOTED)}`);
    }
    if (line === '') return null;
    if (this.skipped++ === 0) this.#first = line;
    this.last = line;
    return null;
  }
}

const NO_PORT = 'it closed its stdout without a line such as {"port":3001}, after';

const MAX_QUOTED = 200;

/** Empty if the command is still running or was never started. */
async function endingOf(exited: Promise<Exit>): Promise<string> {
  if (!(await finishedWithin(exited, 2 * LAST_OUTPUT_MS))) return '';
  const exit = await exited;
  return exit.code === null && exit.signal === null ? '' : `, and ${endText(exit)}`;
}

/** Error texts of Node.js, Python, Go and others; most contain the port on that line. */
const PORT_IN_USE = /^.*(?:EADDRINUSE|address (?:is )?already in use).*$/im;

function portHint(stderr: readonly string[]): string | null {
  const line = PORT_IN_USE.exec(stderr.join('\n'))?.[0];
  if (line === undefined) return null;
  const port = /:(\d{2,5})\b/.exec(line)?.[1];
  const what = port === undefined ? 'Its port' : `Port ${port}`;
  return `${what} is already in use: stop the program that listens there, or let the server choose a free port.`;
}

const READY_LINE = 'must print a line with the port that it serves, as {"port":3001}';

function readyHint(must: string): string {
  const fixed = must === READY_LINE ? '; for a server on a fixed port, give its URL too' : '';
  return `The command ${must}${fixed}.`;
}

function silentHint(stderr: readonly string[], must: string, cwd?: string): string {
  const other = `Run it alone to see why it ends. It must keep running, and ${must}. For an MCP server, use invoke --mcp.`;
  return missingFileHint(stderr, cwd) ?? other;
}
