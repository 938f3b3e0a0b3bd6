import { ABILITIES, type DriverLine, type Instruction, readDriverLine } from '../../protocol/driver.js';
import { startSpokenCommand } from '../../system/child.js';
import { bytesText, didYouMean, excerpt, LineSplitter } from '../../util/text.js';

/** Makes a runtime act, and reports what it showed. */
export interface Driver {
  send(instruction: Instruction): void;
  /** How it ended, in words: `ended with status 1`. */
  readonly ended: Promise<string>;
  /** The last lines of its stderr. */
  lastLines(): readonly string[];
  stop(): Promise<void>;
}

export interface DriverSetting {
  readonly scenario: string;
  readonly env: Readonly<Record<string, string>>;
  /** Called for each line that it understands, in order. */
  readonly onLine: (line: DriverLine) => void;
  /** Called with a warning for the user: an unreadable line, an unknown member. */
  readonly onWarning: (message: string) => void;
}

/** Opens the driver of a runtime anew for a scenario. */
export type OpenDriver = (setting: DriverSetting) => Promise<Driver>;

/** A result of 1 MiB whose every character is escaped fits. */
const MAX_LINE = 8 * 1024 * 1024;

/** Maximum number of lines that are read in one scenario; more would fill the memory. */
const MAX_LINES = 10_000;

/** Maximum number of warnings about lines in one scenario. */
const MAX_WARNINGS = 3;

/** Reads the lines of a driver: what is not a line of the protocol is ignored with a warning. */
export class LineReader {
  readonly #splitter = new LineSplitter(MAX_LINE, line => this.#read(line));
  #lines = 0;
  #warnings = 0;

  constructor(private readonly setting: Pick<DriverSetting, 'onLine' | 'onWarning'>) {}

  /** Returns false if nothing more is read. */
  add(chunk: Uint8Array): boolean {
    if (this.#lines > MAX_LINES) return false;
    if (this.#splitter.add(chunk)) return true;
    this.#lines = MAX_LINES + 1;
    this.setting.onWarning(
      `the driver wrote a line of more than ${bytesText(MAX_LINE)}; the rest of its output was ignored`,
    );
    return false;
  }

  #read(line: Uint8Array): void {
    if (this.#lines > MAX_LINES || !line.some(byte => byte > 0x20)) return;
    if (++this.#lines > MAX_LINES) {
      this.setting.onWarning(`the driver wrote more than ${MAX_LINES} lines; the rest was ignored`);
      return;
    }
    const read = readDriverLine(line);
    if (!read.ok) {
      this.#warn(`ignored a line of the driver: ${read.faults[0]}: ${shown(line)}`);
      return;
    }
    for (const name of 'cannot' in read.value ? read.value.cannot : [])
      if (!ABILITIES.includes(name))
        this.#warn(`"cannot" lists ${excerpt(name)}, which is unknown. ${didYouMean(name, ABILITIES)}`);
    this.setting.onLine(read.value);
  }

  #warn(message: string): void {
    if (++this.#warnings <= MAX_WARNINGS) this.setting.onWarning(message);
  }
}

const SHOWN_BYTES = 200;

function shown(line: Uint8Array): string {
  return excerpt(Buffer.from(line.subarray(0, SHOWN_BYTES)).toString('utf8'));
}

/** Starts a command that speaks the driver protocol, in its own process group. */
export function commandDriver(command: string, onStderr?: (text: string) => void): OpenDriver {
  return async setting => {
    const started = startSpokenCommand({ command, env: setting.env, ...(onStderr && { onStderr }) });
    const reader = new LineReader(setting);
    started.stdout.on('data', (chunk: Buffer) => void reader.add(chunk));
    return {
      send: instruction => void started.stdin.write(`${JSON.stringify(instruction)}\n`),
      ended: started.ended,
      lastLines: started.stderr,
      stop: started.stop,
    };
  };
}
