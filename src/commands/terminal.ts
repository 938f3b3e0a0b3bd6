import { isLargeEnough } from '../ui/terminal.js';

/** What a command knows of the world around it; a test gives it another one. */
export interface Terminal {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The words after `--`; null where there is none. */
  readonly afterDashes: readonly string[] | null;
  readonly cwd: string;
  readonly home: string;
  /** Code runs from now on that is not ours (threats, row 29): whatever it still waits for at the end, nobody waits for it. */
  readonly hostsCode: () => void;
  /** Long computations on foreign data are to be expected: a signal must end this process in the midst of one, too. */
  readonly computes?: () => void;
  /** What Ctrl-C does, where it is read as a key: in raw mode the terminal makes no signal of it. */
  readonly interrupt: () => void;
}

export const OUTPUTS = ['ui', 'text', 'plain', 'json', 'ndjson'] as const;
export type Output = (typeof OUTPUTS)[number];

/** Whether a screen can be drawn: it needs a terminal on both ends, room, and no CI. */
export function canDraw({ stdin, stdout, env }: Terminal): boolean {
  const isBothWays = stdin.isTTY === true && stdout.isTTY === true && env['TERM'] !== 'dumb';
  return isBothWays && !isCi(env) && isLargeEnough(stdout);
}

/** The same decision as Ink's (the package `is-in-ci`), which in CI draws nothing before the end. */
function isCi(env: Terminal['env']): boolean {
  return ['CI', 'CONTINUOUS_INTEGRATION'].some(name => !NOT_CI.has(env[name]));
}

const NOT_CI: ReadonlySet<string | undefined> = new Set([undefined, '0', 'false']);

/** The live view where it can be drawn, its story in lines on any other terminal, and in a pipe what the LLM gets. */
export function defaultOutput(terminal: Terminal): Output {
  if (canDraw(terminal)) return 'ui';
  return terminal.stdout.isTTY === true ? 'plain' : 'text';
}

/** Narrower ones do not say how wide they are, or nobody reads there. */
const NARROWEST = 20;

/** Cells of a row of a terminal; undefined where there is none: lines are then as long as they are. */
export function columnsOf({ isTTY, columns }: NodeJS.WriteStream): number | undefined {
  return isTTY && columns >= NARROWEST ? columns : undefined;
}
