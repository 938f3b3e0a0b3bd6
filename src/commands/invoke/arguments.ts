import { checkValue } from '../../json-schema/validator.js';
import { optionsOf } from '../../protocol/mcp.js';
import type { Tool } from '../../protocol/toolset.js';
import { ProtocolCliError } from '../../util/errors.js';
import { type JsonReading, parseJson, readJson } from '../../util/json.js';
import { lossyNumberNotes } from '../../util/json-notes.js';
import { shellWord } from '../../util/shell-word.js';
import { joinFirst, truncate } from '../../util/text.js';
import { isRecord } from '../../util/values.js';
import { visibleLine } from '../../util/visible.js';
import { usageError } from '../options.js';
import { readSource } from '../read-source.js';
import type { Prompts } from '../terminal.js';

/** The arguments as given: words like `key=value`, or all at once. */
export interface ArgumentWords {
  readonly words: readonly string[];
  /** `--args`: JSON, `@file`, or `-`. */
  readonly whole?: string | undefined;
}

type Arguments = Record<string, unknown>;

type Schema = Readonly<Record<string, unknown>>;

/** Returns the arguments for a schema; null without a schema. */
export type ArgumentReader = (schema: Schema | null) => Arguments;

/**
 * Reads the `arguments` of an invocation. `key=value` is typed by the schema, `key:=json` is verbatim, `key=@file` is a file's text.
 * @throws ProtocolCliError `usage` or `unreadable-file`, naming the word.
 */
export async function readArguments(
  { words, whole }: ArgumentWords,
  stdin: AsyncIterable<Uint8Array>,
): Promise<ArgumentReader> {
  if (whole !== undefined) {
    if (words.length > 0) throw usageError('--args and key=value exclude each other', 'Use one of the two.');
    const all = await readWhole(whole, stdin);
    return () => all;
  }
  const entries = new Map<string, (schema: Schema | null) => unknown>();
  for (const word of words) {
    const [, key = '', colon, text = ''] = /^(?!:=)([^=]+?)(:?)=(.*)$/s.exec(word) ?? [];
    if (key === '')
      throw usageError(
        `unexpected argument "${word}"; use key=value`,
        'Write key=value, key:=json or key=@file; or give all arguments at once with --args.',
      );
    if (entries.has(key)) throw usageError(`duplicate argument "${key}"`);
    entries.set(key, await readValue(word, key, text, colon === ':', stdin));
  }
  return schema => Object.fromEntries([...entries].map(([key, value]) => [key, value(schema)]));
}

async function readValue(
  word: string,
  key: string,
  text: string,
  isJson: boolean,
  stdin: AsyncIterable<Uint8Array>,
): Promise<(schema: Schema | null) => unknown> {
  if (!isJson && !text.startsWith('@')) return schema => typed(key, text, schema);
  const value = isJson ? readMember(word, text) : textOf(await readSource(text.slice(1), stdin));
  return () => value;
}

/** Without a byte-order mark. */
function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

function readMember(word: string, text: string): unknown {
  const reading = parseJson(text);
  refuseLossy(word, reading);
  if (reading.ok) return reading.value;
  throw usageError(
    `${word}: ${reading.reason}`,
    'After := comes JSON; a string needs quotes: name:=\'"Ada"\'. For plain text write name=Ada.',
  );
}

async function readWhole(source: string, stdin: AsyncIterable<Uint8Array>): Promise<Arguments> {
  const file = source === '-' ? '-' : source.startsWith('@') ? source.slice(1) : null;
  const reading = file === null ? parseJson(source) : readJson(withoutMark(await readSource(file, stdin)));
  const where = file === null ? '--args' : `--args ${file === '-' ? '(standard input)' : file}`;
  if (!reading.ok)
    throw usageError(`${where}: ${reading.reason}`, 'Give a JSON object, @file, or - for standard input.');
  refuseLossy(where, reading);
  if (!isRecord(reading.value)) throw usageError(`${where}: the arguments must be a JSON object`);
  return reading.value;
}

/** Editors of Windows write a byte-order mark before UTF-8. */
function withoutMark(bytes: Uint8Array): Uint8Array {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

/** Refuses numbers that change when they are read: 9007199254740993 would become …992, and 1e400 null. */
function refuseLossy(where: string, reading: JsonReading): void {
  const [note] = reading.ok ? reading.notes : [];
  if (note !== undefined) throw usageError(`${where}: ${note}`);
}

/** Ordered from the most specific type: if several types are allowed, `42` is read as a number rather than a string. */
const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  null: text => (text === 'null' ? null : undefined),
  boolean: text => (text === 'true' ? true : text === 'false' ? false : undefined),
  integer: numeric,
  number: numeric,
  array: text => jsonWhere(text, Array.isArray),
  object: text => jsonWhere(text, isRecord),
  string: text => text,
};

/**
 * Converts a word to the type of its property in the schema. It stays a string if the schema defines no type or the word does not
 * match (validation then reports path and rule).
 * @throws ProtocolCliError `usage` for a number that cannot be held exactly, or a repeated key, unless the property may be a string
 */
export function typed(key: string, text: string, schema: Schema | null): unknown {
  const properties = schema?.['properties'];
  const property = isRecord(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined;
  const types = typesOf(property, schema);
  for (const [type, read] of Object.entries(READERS)) {
    const value = types.has(type) ? read(text) : undefined;
    if (value !== undefined) return value;
  }
  if (types.size > 0) refuseLossy(key, parseJson(text));
  return text;
}

function numeric(text: string): number | undefined {
  const isNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text);
  return isNumber && lossyNumberNotes(text).length === 0 ? Number(text) : undefined;
}

function jsonWhere(text: string, fits: (value: unknown) => boolean): unknown {
  const reading = parseJson(text);
  return reading.ok && reading.notes.length === 0 && fits(reading.value) ? reading.value : undefined;
}

/**
 * Returns the possible types of a property: its `type`, the types of its `enum` or `const`, and those of its subschemas and
 * references. References may be circular.
 */
function typesOf(property: unknown, root: Schema | null): Set<string> {
  const types = new Set<string>();
  const parts = new Set<unknown>([property]);
  for (const part of parts) {
    // grows during the loop
    if (!isRecord(part)) continue;
    const { type, enum: values, const: value, anyOf, oneOf, allOf, $ref } = part;
    const own = [type].flat().filter(each => typeof each === 'string');
    const given = [values, value].flat().filter(each => each !== undefined);
    for (const each of own.length === 0 ? given.map(typeName) : own) types.add(each);
    for (const each of [anyOf, oneOf, allOf, referred($ref, root)].flat()) parts.add(each);
  }
  return types;
}

/** Resolves references within the document only; nothing is fetched. */
function referred(ref: unknown, root: unknown): unknown {
  if (typeof ref !== 'string' || !ref.startsWith('#/')) return undefined;
  const keys = ref.slice(2).split('/');
  return keys
    .map(key => key.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((value, key) => (isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined), root);
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** Limits: length of a foreign text, and how many options and names are shown. */
const MAX = { text: 300, options: 50, names: 60 };

const shown = (text: string) => visibleLine(truncate(text, MAX.text));

function propertiesOf({ properties }: Schema): Readonly<Record<string, Schema>> {
  const all = isRecord(properties) ? Object.entries(properties) : [];
  return Object.fromEntries(all.map(([name, property]) => [name, isRecord(property) ? property : {}]));
}

function requiredIn({ required }: Schema): readonly string[] {
  return Array.isArray(required) ? required.filter(name => typeof name === 'string') : [];
}

/** Asks the user for the required arguments of a selected operation. */
export async function askForArguments({ name, inputSchema }: Tool, prompts: Prompts): Promise<Arguments> {
  const required = requiredIn(inputSchema);
  const optional = Object.keys(propertiesOf(inputSchema)).filter(each => !required.includes(each));
  if (optional.length > 0)
    prompts.show(`Optional: ${visibleLine(joinFirst(optional, MAX.names))} (give them as key=value)\n`);
  const values = await prompts.lendTerminal(() => askForValues(inputSchema, required, prompts));
  if (values) return values;
  const words = required.map(each => `${shellWord(each, process.platform)}=…`).join(' ');
  throw new ProtocolCliError(
    prompts.signal.aborted ? 'interrupted' : 'usage',
    `${name} needs arguments: ${joinFirst(required, MAX.names)}`,
    {
      hint: `protocol-cli invoke <url> ${shellWord(name, process.platform)} ${words}; \`protocol-cli toolset <url> ${shellWord(name, process.platform)}\` shows what they are, and \`protocol-cli invoke -i <url>\` has a form.`,
    },
  );
}

/** Asks the user for the values of some properties; null if the user cancels. */
export async function askForValues(
  schema: Schema,
  names: readonly string[],
  prompts: Prompts,
  over?: AbortSignal,
): Promise<Arguments | null> {
  const values: [string, unknown][] = [];
  for (const name of names) {
    const property = propertiesOf(schema)[name] ?? {};
    prompts.show(describe(property));
    const answer = await askForValue(schema, name, property, prompts, over);
    if (answer === null) return null;
    if (answer.given !== undefined) values.push([name, answer.given]);
  }
  return Object.fromEntries(values);
}

/** Asks until the value is valid; null if the user cancels. */
async function askForValue(
  schema: Schema,
  name: string,
  property: Schema,
  prompts: Prompts,
  over?: AbortSignal,
): Promise<{ readonly given: unknown } | null> {
  const isRequired = requiredIn(schema).includes(name);
  for (;;) {
    const line = await prompts.ask(labelOf(name, property, isRequired), over);
    if (line === null) return null;
    const given = valueIn(name, line.trim(), property, schema);
    if (given === undefined && !isRequired) return { given };
    const fault = given === undefined ? 'is required' : await faultOf(property, given);
    if (fault === null) return { given };
    prompts.show(`${shown(name)} ${shown(fault)}\n`);
  }
}

/** Returns the description of a property, and its options. */
function describe({ description, ...property }: Schema): string {
  const items = isRecord(property['items']) ? property['items'] : {};
  const options = optionsOf(property) ?? optionsOf(items) ?? [];
  const more = options.length > MAX.options ? [`… ${options.length - MAX.options} more`] : [];
  const labels = options.slice(0, MAX.options).map(({ label }, index) => `${index} ${shown(label)}`);
  const lines = [...(typeof description === 'string' ? [shown(description)] : []), ...labels, ...more];
  return lines.map(line => `  ${line}\n`).join('');
}

function labelOf(name: string, { title, default: preset }: Schema, isRequired: boolean): string {
  const label = typeof title === 'string' ? `${title} (${name})` : name;
  const given = preset === undefined ? '' : ` [${shown(JSON.stringify(preset))}]`;
  return `${shown(label)}${isRequired ? '' : ', optional'}${given}: `;
}

/** Converts a typed line to a value; undefined for an empty line without a default. */
function valueIn(name: string, line: string, property: Schema, schema: Schema): unknown {
  if (line === '') return property['default'];
  const options = optionsOf(property);
  const pick = (text: string, from: NonNullable<typeof options>) => {
    const isMeant = (each: string) => each.toLowerCase() === text.toLowerCase();
    const option = from.find(({ label, value }) => isMeant(label) || isMeant(String(value)));
    if (option) return option.value;
    return /^\d+$/.test(text) ? (from[Number(text)]?.value ?? text) : text;
  };
  if (options) return pick(line, options);
  const several = isRecord(property['items']) ? optionsOf(property['items']) : null;
  if (several && !line.startsWith('[')) return line.split(',').map(each => pick(each.trim(), several));
  return typed(name, line, schema);
}

async function faultOf(property: Schema, value: unknown): Promise<string | null> {
  const check = await checkValue(property, value);
  return check.kind === 'invalid' ? check.faults.map(({ message }) => message).join('; ') : null;
}
