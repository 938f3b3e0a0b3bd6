import { ABILITIES, type DriverLine, type Instruction, readDriverLine } from '../../protocol/driver.js';
import { type SpokenCommand, startSpokenCommand } from '../../system/child.js';
import { cameWithin } from '../../system/process.js';
import { readJson } from '../../util/json.js';
import { didYouMean, excerpt, LineSplitter } from '../../util/text.js';
import { isRecord } from '../../util/values.js';

/** Gives instructions to a runtime, and reports observations. */
export interface Driver {
  /** Its name in messages. */
  readonly kind: 'driver' | 'agent';
  send(instruction: Instruction): void;
  /** Resolves to how it ended: `ended with status 1`. */
  readonly ended: Promise<string>;
  /** The last lines of its stderr; default: 10. */
  lastLines(count?: number): readonly string[];
  /** How to start it, if it did nothing. */
  readonly hint?: string;
  stop(): Promise<void>;
}

export interface DriverSetting {
  readonly scenario: string;
  readonly env: Readonly<Record<string, string>>;
  /** Called for each valid line, in order. */
  readonly onLine: (line: DriverLine) => void;
  /** Called with a warning for the user: an unreadable line, an unknown ability. */
  readonly onWarning: (message: string) => void;
  readonly onStderr?: (text: string) => void;
}

/** Opens the driver of a runtime anew for a scenario. */
export type OpenDriver = (setting: DriverSetting) => Promise<Driver>;

const MIB = 1024 * 1024;

/** Limits of the output of a driver in one scenario. A line can contain a result of 1 MiB with every character escaped. */
const MAX = { line: 8 * MIB, bytes: 64 * MIB, lines: 10_000, warnings: 3 };

/** Reads the lines of a driver. Ignores other lines with a warning. */
export class LineReader {
  readonly #splitter = new LineSplitter(MAX.line, line => this.#read(line));
  #bytes = 0;
  #lines = 0;
  readonly #warned = new Set<string>();

  constructor(private readonly setting: Pick<DriverSetting, 'onLine' | 'onWarning'>) {}

  /** Returns the limit that the output exceeds; null for none. */
  add(chunk: Uint8Array): string | null {
    this.#bytes += chunk.length;
    if (this.#bytes > MAX.bytes) return `wrote more than ${MAX.bytes / MIB} MiB`;
    if (!this.#splitter.add(chunk)) return `wrote a line of more than ${MAX.line / MIB} MiB`;
    return this.#lines > MAX.lines ? `wrote more than ${MAX.lines} lines` : null;
  }

  #read(line: Uint8Array): void {
    if (!line.some(byte => byte > 0x20)) return;
    if (++this.#lines > MAX.lines) return;
    const read = readDriverLine(line);
    if (!read.ok) {
      const [fault = ''] = read.faults;
      this.#warn(fault, `ignored a line of the driver: ${fault}: ${shown(line)}`);
      return;
    }
    for (const name of 'cannot' in read.value ? read.value.cannot : [])
      if (!ABILITIES.includes(name))
        this.#warn(name, `"cannot" lists ${excerpt(name)}, which is unknown. ${didYouMean(name, ABILITIES)}`);
    this.setting.onLine(read.value);
  }

  /** Warns once about each kind of line. */
  #warn(kind: string, message: string): void {
    if (this.#warned.has(kind) || this.#warned.size >= MAX.warnings) return;
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

/** Starts a command in its own process group. */
export function startDriver(
  command: string,
  { onStderr }: Pick<DriverSetting, 'onStderr'>,
  env: DriverSetting['env'],
): SpokenCommand {
  return startSpokenCommand({ command, env, ...(onStderr && { onStderr }) });
}

/** How long a driver that closed its stdout may take to end, in ms. */
const CLOSED_MS = 1_000;

/** Starts a command that speaks the driver protocol. */
export function commandDriver(command: string): OpenDriver {
  return async setting => {
    const started = startDriver(command, setting, setting.env);
    const reader = new LineReader(setting);
    let stopBecause = (_: string) => {};
    const stopped = new Promise<string>(resolve => {
      stopBecause = why => resolve(`${why}; it was stopped`);
    });
    const ended = Promise.race([started.ended, stopped]);
    const { stdout, stdin } = started;
    stdout.on('data', (chunk: Buffer) => {
      const why = reader.add(chunk);
      if (why === null) return;
      stopBecause(why);
      stdout.removeAllListeners('data').resume();
      void started.stop();
    });
    stdout.once('end', async () => {
      if (!(await cameWithin(ended, CLOSED_MS))) stopBecause('closed its stdout');
    });
    return {
      kind: 'driver',
      ended,
      send: instruction => void stdin.write(`${JSON.stringify(instruction)}\n`),
      lastLines: started.stderr,
      hint: 'It must read instructions from stdin, one JSON object per line: protocol-cli help runtimes.',
      stop: started.stop,
    };
  };
}
