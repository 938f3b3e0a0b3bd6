import { type Command, InvalidArgumentError, Option } from 'commander';
import { ProtocolCliError } from '../util/errors.js';
import { parseDuration } from '../util/text.js';
import { canDraw, OUTPUTS, type Terminal } from './terminal.js';

/** A wrong command line: what is wrong, and how to fix it. */
export function usage(message: string, hint?: string, faults?: readonly string[]): ProtocolCliError {
  return new ProtocolCliError('usage', message, {
    ...(hint !== undefined && { hint }),
    ...(faults && { faults }),
  });
}

/** @throws ProtocolCliError `usage` where `-o ui` cannot be drawn. */
export function requireScreen(output: string | undefined, terminal: Terminal): void {
  if (output === 'ui' && !canDraw(terminal))
    throw usage('-o ui needs a terminal of at least 40×8 on stdin and stdout, outside CI', 'Use -o plain.');
}

/** Readers of single option values; each throws commander's own error, which names the option. */

export function duration(text: string): number {
  const milliseconds = parseDuration(text);
  if (milliseconds === null)
    throw new InvalidArgumentError('Give a duration: 500ms, 2s, 5m, 1h, or a number of milliseconds.');
  return milliseconds;
}

export function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('Give a whole number from 0.');
  return Number(text);
}

/** Each call is remembered until the end. */
const MOST_REPEATS = 10_000;

const MOST_SIDE_BY_SIDE = 1_000;

export const repeats = (text: string) => countUpTo(MOST_REPEATS, text);

export const sideBySide = (text: string) => countUpTo(MOST_SIDE_BY_SIDE, text);

function countUpTo(most: number, text: string): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > most) throw new InvalidArgumentError(`Give a whole number from 1 to ${most}.`);
  return number;
}

export function port(text: string): number {
  const number = wholeNumber(text);
  if (number > 65_535) throw new InvalidArgumentError('Give a port from 0 to 65535.');
  return number;
}

/** The base URL of a listener for the other side; a path is appended. */
export function publicBase(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '')
    return text.replace(/\/+$/, '');
  throw new InvalidArgumentError(
    'Give a base URL such as https://tunnel.example.com; a path with a token is appended.',
  );
}

const UNITS: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

/** Bytes: `65536`, `512k`, `64m`. */
export function byteCount(text: string): number {
  const [, number = '', unit = ''] = /^(\d{1,12})\s*([kmg]?)(?:i?b)?$/i.exec(text) ?? [];
  if (number === '') throw new InvalidArgumentError('Give a size: a number of bytes, or 512k, 64m, 1g.');
  return Number(number) * (UNITS[unit.toLowerCase()] ?? 1);
}

export function collect(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

/** What the commands that serve have in common. */
export interface ServerFlags {
  readonly host: string;
  readonly port: number;
  readonly allowHost?: readonly string[];
  readonly quiet?: boolean;
  readonly color: boolean;
}

/** `-o` of the commands that serve. */
export const SERVER_OUTPUTS = ['ui', 'plain', 'ndjson'] as const;

export type ServerOutput = (typeof SERVER_OUTPUTS)[number];

/** `-o` of `session answer`. */
export const ANSWER_OUTPUTS = ['ui', 'plain', 'json', 'ndjson'] as const;

/** Types of display segments that a terminal can show. */
export const DRAWABLE = ['diff', 'text'];

/** What an emulated client draws; a terminal shows a line in place of an image. */
const EMULATED = [...DRAWABLE, 'image'];

export function segmentTypes(text: string): ReadonlySet<string> {
  const types = text.split(',').map(type => type.trim());
  const strange = types.find(type => !EMULATED.includes(type));
  if (strange !== undefined)
    throw new InvalidArgumentError(`unknown segment type "${strange}"; choose from ${EMULATED.join(', ')}.`);
  return new Set(types);
}

/** Origins of web pages, each as a browser sends it: `http://localhost:6274`. @throws InvalidArgumentError */
export function origins(text: string, before: readonly string[] = []): string[] {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return [...before, url.origin];
  throw new InvalidArgumentError('give an origin such as http://localhost:6274.');
}

export const chooseOption = () =>
  new Option(
    '--choose <choice>',
    'answer to a question: index from 0, label, default, or JSON for an MCP form (repeatable)',
  ).argParser(collect);

export const outputOption = () =>
  new Option('-o, --output <format>', 'live view, LLM text, plain lines, or JSON').choices(OUTPUTS);

export const headerOption = () =>
  new Option(
    '-H, --header <name: value>',
    'header, sent to the origin of the URL only (repeatable); a value of env:NAME reads a variable',
  ).argParser(collect);

export const bearerOption = () =>
  new Option(
    '--bearer <token>',
    'bearer token, sent to the origin of the URL only; env:NAME reads a variable',
  );

export const supportsOption = () =>
  valueOption(
    '--supports <types>',
    'emulate a client that draws only these segments: diff, text, image',
    segmentTypes,
    new Set(DRAWABLE),
    DRAWABLE.join(),
  );

export const maxBodyOption = () =>
  valueOption('--max-body <size>', 'largest callback, such as 512k, 64m', byteCount, byteCount('64m'), '64m');

/** An option with a value and a default. @param shown the default as the user would write it */
export function valueOption<T>(
  flags: string,
  description: string,
  read: (text: string) => T,
  preset: T,
  shown: string,
): Option {
  return new Option(flags, description).argParser(read).default(preset, shown);
}

/** The options that were set on the command line, defaults excluded: `--save`. */
export function givenOptions(command: Command): string[] {
  return command.options
    .filter(option => command.getOptionValueSource(option.attributeName()) === 'cli')
    .flatMap(({ long }) => long ?? []);
}

/** Runs the body of a command with the process's terminal; the body returns the exit status, ours or that of a command we ran. */
export type RunCommand = (body: (terminal: Terminal) => Promise<number>) => Promise<void>;
