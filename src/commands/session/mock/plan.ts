import { randomBytes } from 'node:crypto';
import { ProtocolCliError } from '../../../util/errors.js';
import { canDraw, type Terminal } from '../../terminal.js';

export const SESSION_MOCK_OUTPUTS = ['ui', 'plain', 'ndjson'] as const;
export type SessionMockOutput = (typeof SESSION_MOCK_OUTPUTS)[number];

/** The flags as commander gives them. */
export interface SessionMockFlags {
  readonly host: string;
  readonly port: number;
  readonly allowHost?: readonly string[];
  readonly key?: string;
  readonly verify?: true;
  readonly output?: SessionMockOutput;
  readonly save?: string;
  readonly quiet?: true;
  readonly color: boolean;
}

export interface SessionMockPlan {
  /** Null plays the script that there is without a file. */
  readonly file: string | null;
  /** What is run against it; null where it serves until it is stopped. */
  readonly command: readonly string[] | null;
  readonly key: string;
  /** What a person is told: the key where it is a random one and nobody else hands it over. */
  readonly toldKey: string | null;
  readonly output: SessionMockOutput;
  readonly isVerified: boolean;
  readonly flags: SessionMockFlags;
}

const EXAMPLE = 'For example: protocol-cli session mock order.yaml -- npm test';

/** @throws ProtocolCliError `usage`. */
export function readPlan(
  words: readonly string[],
  flags: SessionMockFlags,
  terminal: Terminal,
): SessionMockPlan {
  const { afterDashes: command, env } = terminal;
  const files = command ? words.slice(0, words.length - command.length) : words;
  const [file = null, second] = files;
  if (command?.length === 0) throw usage('there is no command after --', EXAMPLE);
  if (second !== undefined) throw usage(`one script is played, and "${second}" is another`, EXAMPLE);
  const given = givenKey(flags, env);
  const key = given ?? randomBytes(24).toString('base64url');
  const isHandedOver = command !== null && flags.quiet === true; // the command has it in its environment
  return {
    file,
    command,
    key,
    toldKey: given !== null || isHandedOver ? null : key,
    output: outputOf(flags, terminal),
    isVerified: flags.verify === true || command !== null,
    flags,
  };
}

function outputOf({ output, quiet }: SessionMockFlags, terminal: Terminal): SessionMockOutput {
  const hasCommand = terminal.afterDashes !== null;
  const drawable = !hasCommand && canDraw(terminal);
  if (output === 'ui' && !drawable)
    throw usage(
      '-o ui needs a terminal of at least 40×8 for itself, outside CI',
      '-o plain tells the same in lines.',
    );
  if (output === 'ndjson' && hasCommand)
    throw usage('-o ndjson and a command both want stdout', 'Use --save <file> instead.');
  return output ?? (drawable && !quiet ? 'ui' : 'plain');
}

/** Secrets on a command line can be seen by others on the machine: the environment is the better place. Null where there is none. */
function givenKey({ key }: SessionMockFlags, env: Terminal['env']): string | null {
  if (key === undefined) return env['API_KEY'] || null;
  if (!key.startsWith('env:')) return key;
  const name = key.slice('env:'.length);
  const value = env[name];
  if (!value) throw usage(`--key: the environment has no ${name}`);
  return value;
}

function usage(message: string, hint?: string): ProtocolCliError {
  return new ProtocolCliError('usage', message, hint === undefined ? {} : { hint });
}
