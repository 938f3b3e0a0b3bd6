import { ABILITIES, type DriverLine, type Instruction, readDriverLine } from '../../protocol/driver.js';
import { startPipedCommand } from '../../system/child.js';
import { type Clock, finishedWithin } from '../../system/clock.js';
import type { Sink } from '../../system/streams.js';
import { readJson } from '../../util/json.js';
import { LIMITS } from '../../util/limits.js';
import { bytesText, didYouMean, excerpt, LineSplitter } from '../../util/text.js';
import { isRecord } from '../../util/values.js';
import { type ProviderName, ScriptedModel } from './scripted-llm.js';

/** Gives instructions to a runtime, and reports observations. */
export interface Driver {
  /** Its name in messages. */
  readonly kind: 'driver' | 'agent';
  send(instruction: Instruction): void;
  /** Resolves to how it ended: `ended with status 1`. */
  readonly ended: Promise<string>;
  /** The last lines of its stderr, after the error if that is earlier. */
  lastLines(): readonly string[];
  /** Lets the model end its turn: an agent may deliver events to it only then. Absent for a driver, which tells what it sees at once. */
  endTurn?(): void;
  /** How to start it, if it did nothing. */
  readonly hint?: string;
  stop(): Promise<void>;
}

export interface DriverSetting {
  readonly env: Readonly<Record<string, string>>;
  readonly clock: Clock;
  /** Called for each valid line, in order. */
  readonly onLine: (line: DriverLine) => void;
  /** Called with a warning for the user: an unreadable line, an unknown ability. */
  readonly onWarning: (message: string) => void;
  /** Called when an agent sends a request to the model: discovery shows only that it has begun to start. */
  readonly onModelRequest?: () => void;
  /** Called with a request that the scripted model does not serve: it may be why the agent fails until the model serves one again. */
  readonly onUnserved?: (message: string) => void;
  /** Called when the scripted model serves a request again. */
  readonly onServed?: () => void;
  readonly onStderr?: Sink;
}

const MAX_WARNINGS = 3;

/** Counts what a runtime shows. */
class Quota {
  #size = 0;
  #lines = 0;

  /** Returns the limit that is exceeded; null for none. */
  add(size: number, lines: number): string | null {
    this.#size += size;
    this.#lines += lines;
    if (this.#size > LIMITS.driverBytes.value)
      return `wrote more than ${bytesText(LIMITS.driverBytes.value)}`;
    return this.#lines > LIMITS.driverLines.value
      ? `wrote more than ${LIMITS.driverLines.value} lines`
      : null;
  }
}

/** Reads the lines of a driver. Ignores other lines with a warning. */
export class LineReader {
  readonly #splitter = new LineSplitter(LIMITS.driverLineBytes.value, line => this.#read(line));
  readonly #quota = new Quota();
  #excess: string | null = null;
  readonly #warned = new Set<string>();

  constructor(private readonly setting: Pick<DriverSetting, 'onLine' | 'onWarning'>) {}

  /** Returns the limit that the output exceeds; null for none. */
  add(chunk: Uint8Array): string | null {
    this.#excess ??= this.#quota.add(chunk.length, 0);
    if (!this.#splitter.add(chunk))
      return `wrote a line of more than ${bytesText(LIMITS.driverLineBytes.value)}`;
    return this.#excess;
  }

  #read(line: Uint8Array): void {
    if (!line.some(byte => byte > 0x20)) return;
    this.#excess ??= this.#quota.add(0, 1);
    if (this.#excess !== null) return;
    const read = readDriverLine(line);
    if (!read.ok) {
      const [fault = ''] = read.faults;
      this.#warn(fault, `ignored a line of the driver: ${fault}: ${shown(line)}`);
      return;
    }
    if ('can' in read.value) this.#warnOfUnknown('can', read.value.can);
    if ('cannot' in read.value) this.#warnOfUnknown('cannot', read.value.cannot);
    this.setting.onLine(read.value);
  }

  #warnOfUnknown(member: 'can' | 'cannot', names: readonly string[] = []): void {
    for (const name of names)
      if (!ABILITIES.includes(name))
        this.#warn(
          name,
          `"${member}" lists ${excerpt(name)}, which is unknown. ${didYouMean(name, ABILITIES)}`,
        );
  }

  /** Warns once about each kind of line. */
  #warn(kind: string, message: string): void {
    if (this.#warned.has(kind) || this.#warned.size >= MAX_WARNINGS) return;
    this.#warned.add(kind);
    this.setting.onWarning(message);
  }
}

const SHOWN_BYTES = 200;

/** The name of an observation, else the beginning of the line. */
function shown(line: Uint8Array): string {
  const json = readJson(line);
  const name = json.ok && isRecord(json.value) ? json.value['saw'] : undefined;
  if (typeof name === 'string') return `"saw": ${excerpt(name)}`;
  return excerpt(Buffer.from(line.subarray(0, SHOWN_BYTES)).toString('utf8'));
}

/** How long a driver that closed its stdout may take to end, in ms. */
const CLOSED_MS = 1_000;

/** Starts a command in its own process group; `stopBecause` ends it with a reason. */
function start(command: string, { env, onStderr }: Pick<DriverSetting, 'env' | 'onStderr'>) {
  const started = startPipedCommand({ command, env, ...(onStderr && { onStderr }) });
  let resolveStop = (_: string) => {};
  const stopped = new Promise<string>(resolve => {
    resolveStop = resolve;
  });
  const { stdin, stdout, stderr: lastLines, stop } = started;
  const stopBecause = (why: string) => {
    resolveStop(`${why}; it was stopped`);
    stdout.removeAllListeners('data').resume();
    void stop();
  };
  return { stdin, stdout, lastLines, stop, stopBecause, ended: Promise.race([started.ended, stopped]) };
}

/**
 * Drives a runtime, started anew for each scenario: with a model, an agent that uses it; else a command that speaks the driver protocol.
 */
export function driverOf(command: string, model?: ProviderName) {
  return (setting: DriverSetting): Promise<Driver> =>
    model === undefined ? speakTo(command, setting) : serveModel(command, model, setting);
}

async function speakTo(command: string, setting: DriverSetting): Promise<Driver> {
  const { stdin, stdout, stopBecause, ...driver } = start(command, setting);
  const reader = new LineReader(setting);
  stdout.on('data', (chunk: Buffer) => {
    const why = reader.add(chunk);
    if (why !== null) stopBecause(why);
  });
  stdout.once('end', async () => {
    if (!(await finishedWithin(driver.ended, CLOSED_MS, { clock: setting.clock })))
      stopBecause('closed its stdout');
  });
  return {
    ...driver,
    kind: 'driver',
    send: instruction => void stdin.write(`${JSON.stringify(instruction)}\n`),
    hint: 'It must read instructions from stdin, one JSON object per line. An agent with a model of its own needs --model anthropic or --model openai: protocol-cli help runtimes.',
  };
}

/**
 * Each instruction becomes a tool call of the model, and each request of the agent to the model becomes observations. The agent's stdin
 * is empty and its stdout is dropped.
 */
async function serveModel(command: string, provider: ProviderName, setting: DriverSetting): Promise<Driver> {
  const quota = new Quota();
  const { onWarning, onModelRequest = () => {}, onUnserved = () => {}, onServed = () => {} } = setting;
  let stopBecause: ((why: string) => void) | undefined; // the agent starts after its model
  const model = await ScriptedModel.start(provider, {
    onWarning,
    onRequest: onModelRequest,
    onUnserved,
    onServed,
    onLine(line) {
      const why = quota.add('text' in line ? line.text.length : 0, 1);
      if (why === null) setting.onLine(line);
      else stopBecause?.(why);
    },
  });
  const env = { ...setting.env, ...model.env };
  const { stdin, stdout, stopBecause: stopAgent, ...driver } = start(command, { ...setting, env });
  stopBecause = stopAgent;
  stdin.end();
  stdout.resume();
  const variable = Object.keys(model.env).find(name => name.endsWith('URL'));
  return {
    ...driver,
    kind: 'agent',
    send: instruction => model.send(instruction),
    endTurn: () => model.endTurn(),
    hint: `It must send requests to the model at ${variable}: protocol-cli help runtimes.`,
    stop: async () => {
      await Promise.all([driver.stop(), model.close()]);
    },
  };
}
