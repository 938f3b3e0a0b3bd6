import { exampleOf, roomFor, type Schema } from '../../../json-schema/example.js';
import type { SchemaFault } from '../../../json-schema/validate.js';
import { LazySegmenter } from '../../../render/terminal/lazy-segmenter.js';
import { jsonFault } from '../../../util/json.js';
import { diagnose, MAX_DEPTH, scanJson } from '../../../util/json-diagnosis.js';
import { jsonPath } from '../../../util/redact-json.js';

interface Described {
  /** With what it refers to in it. */
  readonly schema: Schema;
}

/** Something typed: a string as it is, the digits of a number, JSON of any kind. */
export interface TextField extends Described {
  readonly kind: 'text' | 'number' | 'json';
  readonly text: string;
  /** An empty string is a value too; else what is empty is left out. */
  readonly sendsEmpty: boolean;
}

/** One of a few values. */
export interface ChoiceField extends Described {
  readonly kind: 'choice';
  readonly values: readonly unknown[];
  /** Null where none was chosen. */
  readonly at: number | null;
}

/** A value that holds others. */
export interface GroupField extends Described {
  readonly kind: 'object' | 'array';
  readonly isPresent: boolean;
  readonly children: readonly Child[];
}

/** A value of one of several schemas; its only child is the value under the chosen one. */
export interface VariantsField extends Described {
  readonly kind: 'variants';
  readonly variants: readonly Schema[];
  readonly at: number | null;
  readonly children: readonly Child[];
}

export type Field = TextField | ChoiceField | GroupField | VariantsField;

export interface Child {
  /** A property, an index, or null where the value is the parent's own. */
  readonly key: string | number | null;
  readonly isRequired: boolean;
  /** Of no property that the schema names, or an item: it can be taken out as a whole. */
  readonly isExtra: boolean;
  readonly field: Field;
}

export function childrenOf(field: Field): readonly Child[] {
  return 'children' in field ? field.children : [];
}

/** The tree with another field at an address (indexes of children, from the root down). */
export function withField(root: Field, address: readonly number[], change: (field: Field) => Field): Field {
  const [first, ...rest] = address;
  if (first === undefined) return change(root);
  if (!('children' in root)) return root;
  const children = root.children.map((child, index) =>
    index === first ? { ...child, field: withField(child.field, rest, change) } : child,
  );
  return { ...root, children };
}

/** What a text means; undefined where it is empty and that is no value. */
type TextReading =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string };

function readText({ kind, text, sendsEmpty, schema }: TextField): TextReading {
  if (text === '' && !sendsEmpty) return { ok: true, value: undefined };
  if (kind === 'text') return { ok: true, value: text };
  return kind === 'number' ? readNumber(text, schema['type'] === 'integer') : readJsonText(text);
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

function readNumber(typed: string, isInteger: boolean): TextReading {
  const text = typed.trim();
  if (!NUMBER.test(text))
    return {
      ok: false,
      message: `must be ${isInteger ? 'an integer' : 'a number'}, as 42${isInteger ? '' : ' or -0.5'}`,
    };
  const value = Number(text);
  if (isInteger && !Number.isInteger(value)) return { ok: false, message: 'must be an integer' };
  const message = inexact(text);
  return message === null ? { ok: true, value } : { ok: false, message };
}

/** JSON typed by hand: where it is none, the fault says at which line and column. */
export function readJsonText(text: string): TextReading {
  const { isTooDeep, notes } = diagnose(text);
  if (isTooDeep) return { ok: false, message: `is nested deeper than ${MAX_DEPTH} levels` };
  const fault = jsonFault(text);
  if (fault) return { ok: false, message: `line ${fault.line}, column ${fault.column}: ${fault.message}` };
  const message = inexactIn(text) ?? notes.find(note => note.startsWith('the key ')) ?? null;
  return message === null ? { ok: true, value: JSON.parse(text) } : { ok: false, message };
}

function inexactIn(text: string): string | null {
  let message: string | null = null;
  scanJson(text, (kind, from, to) => {
    if (kind === 'scalar') message = inexact(text.slice(from, to));
    return message === null;
  });
  return message;
}

/** Why a number would be sent as another one. */
function inexact(literal: string): string | null {
  const value = Number(literal);
  if (Number.isNaN(value) || String(value) === literal) return null;
  const named = literal.length > 40 ? `${literal.slice(0, 40)}…` : literal;
  if (!Number.isFinite(value)) return `${named} is too large to be held`;
  const isOther = Number.isInteger(value) && !Number.isSafeInteger(value) && /^-?\d+$/.test(literal);
  return isOther ? `${named} cannot be held exactly: it would become ${value}` : null;
}

/** The value as far as it is one: what is no value yet is there as the text that was typed. Undefined where there is none. */
export function sketchOf(field: Field): unknown {
  return assembled(field, child => sketchOf(child.field));
}

/** The value of a field, those in it as `read` has them. */
function assembled(field: Field, read: (child: Child) => unknown): unknown {
  switch (field.kind) {
    case 'choice':
      return field.at === null ? undefined : field.values[field.at];
    case 'variants':
      return field.children[0] && read(field.children[0]);
    case 'object':
      return field.isPresent ? membersOf(field.children, read) : undefined;
    case 'array':
      return field.isPresent ? field.children.map(child => read(child) ?? null) : undefined;
    default: {
      const reading = readText(field);
      return reading.ok ? reading.value : field.text;
    }
  }
}

/** Own members whatever their names are (threats, row 19); what is absent is left out. */
function membersOf(children: readonly Child[], read: (child: Child) => unknown): Record<string, unknown> {
  const members = children.map(child => [String(child.key), read(child)] as const);
  return Object.fromEntries(members.filter(([, value]) => value !== undefined));
}

type Path = readonly (string | number)[];

/** What is wrong with a field by itself; null where nothing is. */
type Judge = (child: Child) => string | null;

/** What can be no value at all. */
export function unreadable({ field }: Child): string | null {
  const reading = 'text' in field ? readText(field) : null;
  return reading?.ok === false ? reading.message : null;
}

/** The same, and what is required and empty. */
export function unfilled(child: Child): string | null {
  const isMissing = child.isRequired && sketchOf(child.field) === undefined;
  return unreadable(child) ?? (isMissing ? 'is required' : null);
}

/** What is wrong with a field and those in it, each at its path. */
export function faultsIn(child: Child, judge: Judge, above: Path = []): readonly SchemaFault[] {
  const { key, field } = child;
  const path = key === null ? above : [...above, key];
  const own = judge(child);
  const inner = 'children' in field ? field.children.flatMap(each => faultsIn(each, judge, path)) : [];
  return own === null ? inner : [{ path: jsonPath(path), message: own }, ...inner];
}

/** Values that may stand in; of what is beyond, null does. */
const MOST_VALUES = 5_000;

/**
 * What its schema can judge of a value that has faults: where one is, an example of what is taken there stands in.
 * @param root where a `$ref` points into
 */
export function standIn(child: Child, root: Schema, room = roomFor(MOST_VALUES)): unknown {
  const { field } = child;
  return unfilled(child) === null
    ? assembled(field, each => standIn(each, root, room))
    : exampleOf(field.schema, { root, room });
}

/** A text and where in it one types: in front of the UTF-16 unit at `cursor`. */
export interface Typing {
  readonly text: string;
  readonly cursor: number;
}

export type TypingCommand = 'left' | 'right' | 'home' | 'end' | 'erase' | 'eraseWord' | 'eraseLine';

/** Longer clusters are gone through in pieces. */
const LONGEST = 64;
const CLUSTERS = new LazySegmenter();

export function insert({ text, cursor }: Typing, piece: string): Typing {
  return { text: text.slice(0, cursor) + piece + text.slice(cursor), cursor: cursor + piece.length };
}

/** Moves by what a person sees as one character; home, end and what erases keep to the line. */
export function stepTyping(typing: Typing, command: TypingCommand): Typing {
  const { text, cursor } = typing;
  switch (command) {
    case 'left':
      return { text, cursor: before(typing) };
    case 'right':
      return { text, cursor: after(typing) };
    case 'home':
      return { text, cursor: lineStart(typing) };
    case 'end':
      return { text, cursor: lineEnd(typing) };
    case 'erase':
      return eraseFrom(typing, before(typing));
    case 'eraseWord':
      return eraseFrom(typing, wordStart(typing));
    case 'eraseLine':
      return eraseFrom(typing, cursor === lineStart(typing) ? before(typing) : lineStart(typing));
  }
}

function eraseFrom({ text, cursor }: Typing, from: number): Typing {
  return { text: text.slice(0, from) + text.slice(cursor), cursor: from };
}

function before({ text, cursor }: Typing): number {
  const start = Math.max(0, cursor - LONGEST);
  const last = [...CLUSTERS.segment(text.slice(start, cursor))].at(-1);
  return cursor - (last?.segment.length ?? 0);
}

function after({ text, cursor }: Typing): number {
  const [first] = CLUSTERS.segment(text.slice(cursor, cursor + LONGEST));
  return cursor + (first?.segment.length ?? 0);
}

function wordStart({ text, cursor }: Typing): number {
  const start = lineStart({ text, cursor });
  const blankless = text.slice(start, cursor).trimEnd();
  const word = Math.max(blankless.lastIndexOf(' '), blankless.lastIndexOf('\t'));
  return cursor === start ? before({ text, cursor }) : start + word + 1;
}

export function lineStart({ text, cursor }: Typing): number {
  return cursor === 0 ? 0 : text.lastIndexOf('\n', cursor - 1) + 1;
}

export function lineEnd({ text, cursor }: Typing): number {
  const end = text.indexOf('\n', cursor);
  return end < 0 ? text.length : end;
}

const COMMANDS: readonly unknown[] = ['left', 'right', 'home', 'end', 'erase', 'eraseWord', 'eraseLine'];

export function isTyping(command: unknown): command is TypingCommand {
  return COMMANDS.includes(command);
}

/** What the fields hold as JSON for the hand, the cursor at its start. */
export function rawOf(root: Field): Typing {
  return { text: JSON.stringify(sketchOf(root) ?? {}, null, 2), cursor: 0 };
}
