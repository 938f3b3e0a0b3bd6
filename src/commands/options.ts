import { Command, InvalidArgumentError, Option } from 'commander';
import { ProtocolCliError } from '../util/errors.js';
import { parseDuration } from '../util/text.js';
import {
  BY_SIGNAL,
  canDraw,
  EXIT_STATUSES,
  type ExitStatus,
  linesSetting,
  type Terminal,
} from './terminal.js';

/** Creates an error about the command line: what is wrong, and how to fix it. */
export function usageError(message: string, hint?: string, faults?: readonly string[]): ProtocolCliError {
  return new ProtocolCliError('usage', message, {
    ...(hint !== undefined && { hint }),
    ...(faults && { faults }),
  });
}

/** @throws ProtocolCliError `usage` if `-o ui` is not possible on this terminal. */
export function requireScreen(output: string | undefined, terminal: Terminal): void {
  if (output === 'ui' && !canDraw(terminal)) throw screenError(terminal, 'on stdin and stdout');
}

/** Says why `-o ui` is not possible. @param where about the terminal */
export function screenError({ env }: Pick<Terminal, 'env'>, where: string): ProtocolCliError {
  const setting = linesSetting(env);
  const needs = `-o ui needs a terminal of at least 40×8 ${where}, outside CI`;
  return usageError(setting ? `-o ui draws a screen, and ${setting} asks for lines` : needs, 'Use -o plain.');
}

// Parsers of option values: each throws commander's own error, which names the option.

function duration(text: string): number {
  const milliseconds = parseDuration(text);
  if (milliseconds === null)
    throw new InvalidArgumentError('Give a duration: 500ms, 2s, 5m, 1h, or a number of milliseconds.');
  return milliseconds;
}

const LARGEST = 999_999_999;

export function wholeNumber(from = 0, to = LARGEST, noun = 'whole number'): (text: string) => number {
  return text => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : -1;
    if (number >= from && number <= to) return number;
    throw new InvalidArgumentError(`Give a ${noun} from ${from}${to === LARGEST ? '' : ` to ${to}`}.`);
  };
}

/** Parses the public base URL of a listener; a path is appended. */
function publicBase(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '')
    return text.replace(/\/+$/, '');
  throw new InvalidArgumentError(
    'Give a base URL such as https://tunnel.example.com; a path with a token is appended.',
  );
}

const UNITS: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

/** Parses a number of bytes: `65536`, `512k`, `64m`. */
function byteCount(text: string): number {
  const [, number = '', unit = ''] = /^(\d{1,12})\s*([kmg]?)(?:i?b)?$/i.exec(text) ?? [];
  if (number === '') throw new InvalidArgumentError('Give a size: a number of bytes, or 512k, 64m, 1g.');
  return Number(number) * (UNITS[unit.toLowerCase()] ?? 1);
}

function collect(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

/** Options that all server commands share. */
export interface ServerFlags {
  readonly host: string;
  readonly port: number;
  readonly allowHost?: readonly string[];
  readonly quiet?: boolean;
  readonly color: boolean;
}

/** `-o` of the server commands. */
export const SERVER_OUTPUTS = ['ui', 'plain', 'ndjson'] as const;

export type ServerOutput = (typeof SERVER_OUTPUTS)[number];

/** `-o` of `session answer`. */
export const ANSWER_OUTPUTS = ['ui', 'plain', 'json', 'ndjson'] as const;

/** Types of display segments that a terminal can show. */
export const DRAWABLE = ['diff', 'text'];

/** Types that an emulated client supports; a terminal shows a line in place of an image. */
const EMULATED = [...DRAWABLE, 'image'];

function segmentTypes(text: string): ReadonlySet<string> {
  const types = text.split(',').map(type => type.trim());
  const strange = types.find(type => !EMULATED.includes(type));
  if (strange !== undefined)
    throw new InvalidArgumentError(`unknown segment type "${strange}"; choose from ${EMULATED.join(', ')}.`);
  return new Set(types);
}

/** Returns the options set on the command line, without defaults: `--save`. */
export function givenOptions(command: Command): string[] {
  return command.options
    .filter(option => command.getOptionValueSource(option.attributeName()) === 'cli')
    .flatMap(({ long }) => long ?? []);
}

/** Runs the body of a command with the process's terminal. The body returns the exit status, its own or that of a child command. */
export type RunCommand = (body: (terminal: Terminal) => Promise<number>) => Promise<void>;

/** Exit statuses of servers that run a command. */
export const COMMAND_STATUS = '  If the command after -- fails, its status.\n';

/** How to parse the value of an option. */
interface OptionValue {
  // biome-ignore lint/suspicious/noExplicitAny: commander passes what was read before
  readonly read?: (text: string, before: any) => unknown;
  readonly choices?: readonly string[];
  /** The default, as the user would write it. */
  readonly preset?: string;
  /** What help shows as the default; otherwise `preset`. */
  readonly shown?: string;
  readonly isRequired?: boolean;
  readonly isHidden?: boolean;
}

/** Parsers by the placeholder of the value; without one, the value of a repeatable option is a list. */
const PLACEHOLDERS: Readonly<Record<string, OptionValue['read']>> = {
  duration,
  n: wholeNumber(),
  port: wholeNumber(0, 65_535, 'port'),
  size: byteCount,
};

/** Options with the same meaning in every command. */
const COMMON: Readonly<Record<string, OptionValue>> = {
  '--host': { preset: '127.0.0.1' },
  '--port': { preset: '0' },
  '--callback-host': { preset: '127.0.0.1' },
  '--callback-port': { preset: '0' },
  '--callback-url': { read: publicBase },
  '--max-body': { preset: '64m' },
  '--retries': { preset: '2' },
  '--drain': { preset: '5s' },
  '--supports': { read: segmentTypes, preset: DRAWABLE.join() },
};

interface CommandDefinition {
  readonly name: string;
  /** Shown in the list of subcommands. */
  readonly summary?: string;
  readonly description: string;
  readonly usage: string;
  /** Descriptions of arguments, by their commander name: `<url>`. */
  readonly arguments?: Readonly<Record<string, string>>;
  /** One option per line, with its description after two spaces; the name of a group ends with a colon. */
  readonly options?: string;
  /** By option name. */
  readonly values?: Readonly<Record<string, OptionValue>>;
  /** Command lines, by their description. */
  readonly examples: Readonly<Record<string, string>>;
  /** Its exit statuses; those of signals are added. */
  readonly statuses?: readonly ExitStatus[];
  /** A signal is its normal end. */
  readonly isServer?: true;
  /** Printed before the examples. */
  readonly preface?: string;
  /** Printed after the exit statuses. */
  readonly note?: string;
  readonly guide: string;
}

/** Creates a command with its options and its help; the caller adds the action. */
export function defineCommand(definition: CommandDefinition): Command {
  const { name, summary, description, usage: line, preface = '', examples } = definition;
  const { statuses = [], isServer, note = '', guide } = definition;
  const command = new Command(name).description(description).usage(line);
  if (summary !== undefined) command.summary(summary);
  for (const [argument, about] of Object.entries(definition.arguments ?? {}))
    command.argument(argument, about);
  for (const row of definition.options?.trim().split(/\n\s*/) ?? []) addRow(command, row, definition.values);
  const all = isServer ? statuses : [...statuses, ...Object.values(BY_SIGNAL)];
  const ends = statuses.length > 0 ? exitStatusText(all) : '';
  return command.addHelpText('after', preface + examplesText(examples) + ends + note + guideText(guide));
}

/** Adds an option, or starts a group. */
function addRow(command: Command, row: string, values: CommandDefinition['values'] = {}): void {
  const [flags = '', description] = row.split(/ {2,}/);
  if (description === undefined) return void command.optionsGroup(flags);
  const option = new Option(flags, description);
  const name = option.long ?? '';
  const [, placeholder = ''] = /<(\w+)>$/.exec(flags) ?? [];
  const usual: OptionValue['read'] = description.includes('(repeatable')
    ? collect
    : PLACEHOLDERS[placeholder];
  const value: OptionValue = { ...COMMON[name], ...values[name] };
  const { read = usual, choices, preset, shown = preset, isRequired = false, isHidden = false } = value;
  if (read) option.argParser(read);
  if (option.long === '--timeout') option.argParser(timeoutOf(command));
  if (choices) option.choices(choices);
  if (preset !== undefined) option.default(read ? read(preset, undefined) : preset, read && shown);
  command.addOption(option.makeOptionMandatory(isRequired).hideHelp(isHidden));
}

/** Shorter times are hardly meant as milliseconds. */
const MIN_PLAIN_MS = 10;

/** Reads a timeout. Warns when the command starts, since `--quiet` may follow. */
function timeoutOf(command: Command): (text: string) => number {
  return text => {
    const ms = duration(text);
    const isOdd = ms > 0 && ms < MIN_PLAIN_MS && /\d\s*$/.test(text);
    const warning = `warning: --timeout ${text} is ${ms} ms; for seconds write ${text.trim()}s\n`;
    const warn = () => command.opts()['quiet'] || command.configureOutput().writeErr?.(warning);
    if (isOdd) command.hook('preAction', () => void warn());
    return ms;
  };
}

/** @param examples command lines, by their description */
export function examplesText(examples: Readonly<Record<string, string>>): string {
  const blocks = Object.entries(examples).map(([about, line]) => `  # ${about}\n  ${line}`);
  return `\nExamples:\n${blocks.join('\n\n')}\n`;
}

function exitStatusText(statuses: readonly ExitStatus[]): string {
  return `\nExit status:\n${statuses.map(status => `  ${String(status).padStart(3)}  ${EXIT_STATUSES[status]}`).join('\n')}\n`;
}

/** Returns the last line of a command's help. */
function guideText(guide: string): string {
  return `\nGuide: protocol-cli help ${guide}\n`;
}
