import { ProtocolCliError } from '../../errors.js';
import { isRecord } from '../../text/is-record.js';
import { type JsonReading, parseJson, readJson } from '../../text/json.js';
import { readSource } from '../read-source.js';
import { typed } from './typed.js';

/** Where arguments come from: words like `key=value`, or everything at once. */
export interface ArgumentWords {
  readonly words: readonly string[];
  /** `--args`: JSON, `@file`, or `-`. */
  readonly whole?: string;
}

type Arguments = Record<string, unknown>;
type Schema = Readonly<Record<string, unknown>>;

/** Arguments that were read, and whose words are typed once the schema is known; null where there is none. */
export type Gathered = (schema: Schema | null) => Arguments;

/**
 * The `arguments` of an invocation. `key=value` is typed by the schema, `key:=json` is verbatim, `key=@file` is a file's text.
 * @throws ProtocolCliError `usage` or `unreadable-file`, naming the word.
 */
export async function readArguments(
  given: ArgumentWords,
  schema: Schema | null,
  stdin: AsyncIterable<Uint8Array>,
): Promise<Arguments> {
  return (await gatherArguments(given, stdin))(schema);
}

/** The same before the schema is known. @throws ProtocolCliError likewise. */
export async function gatherArguments(
  { words, whole }: ArgumentWords,
  stdin: AsyncIterable<Uint8Array>,
): Promise<Gathered> {
  if (whole === undefined) return fromWords(words, stdin);
  if (words.length === 0) return always(await fromWhole(whole, stdin));
  throw new ProtocolCliError('usage', 'arguments are given both with --args and as key=value', {
    hint: 'Use one of the two.',
  });
}

async function fromWords(words: readonly string[], stdin: AsyncIterable<Uint8Array>): Promise<Gathered> {
  const entries = new Map<string, (schema: Schema | null) => unknown>();
  for (const word of words) {
    const { key, verbatim, text } = split(word);
    if (entries.has(key)) throw new ProtocolCliError('usage', `the argument "${key}" is given twice`);
    entries.set(key, verbatim ? always(json(word, text)) : await textOrFile(key, text, stdin));
  }
  return schema => Object.fromEntries([...entries].map(([key, value]) => [key, value(schema)]));
}

const always =
  <T>(value: T) =>
  () =>
    value;

function split(word: string): { key: string; verbatim: boolean; text: string } {
  const equals = word.indexOf('=');
  const verbatim = word[equals - 1] === ':';
  const key = word.slice(0, verbatim ? equals - 1 : equals);
  if (equals >= 0 && key !== '') return { key, verbatim, text: word.slice(equals + 1) };
  throw new ProtocolCliError('usage', `"${word}" is no argument`, {
    hint: 'Write key=value, key:=json or key=@file; or give all arguments at once with --args.',
  });
}

async function textOrFile(
  key: string,
  text: string,
  stdin: AsyncIterable<Uint8Array>,
): Promise<(schema: Schema | null) => unknown> {
  if (!text.startsWith('@')) return schema => typed(key, text, schema);
  return always(Buffer.from(await readSource(text.slice(1), stdin)).toString('utf8'));
}

function json(word: string, text: string): unknown {
  const reading = parseJson(text);
  refuseLossy(word, reading);
  if (reading.ok) return reading.value;
  throw new ProtocolCliError('usage', `${word}: ${reading.reason}`, {
    hint: 'After := comes JSON: a string needs its quotes, as in name:=\'"Ada"\'. For plain text write name=Ada.',
  });
}

async function fromWhole(source: string, stdin: AsyncIterable<Uint8Array>): Promise<Arguments> {
  const file = source === '-' ? '-' : source.startsWith('@') ? source.slice(1) : null;
  const reading = file === null ? parseJson(source) : readJson(await readSource(file, stdin));
  const where = file === null ? '--args' : `--args ${file === '-' ? '(standard input)' : file}`;
  if (!reading.ok)
    throw new ProtocolCliError('usage', `${where}: ${reading.reason}`, {
      hint: 'Give a JSON object, @file, or - for standard input.',
    });
  refuseLossy(where, reading);
  if (isRecord(reading.value)) return reading.value;
  throw new ProtocolCliError('usage', `${where}: the arguments must be a JSON object`);
}

/** What cannot be sent as it was written is not sent at all: 1e400 would go out as null. */
function refuseLossy(where: string, reading: JsonReading): void {
  const [note] = reading.ok ? reading.notes : [];
  if (note !== undefined) throw new ProtocolCliError('usage', `${where}: ${note}`);
}
