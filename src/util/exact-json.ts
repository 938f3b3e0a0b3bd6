import { randomUUID } from 'node:crypto';
import { type JsonTokenKind, JsonTokens } from './json-tokens.js';

/** The numbers that `JSON.parse` changed, as they were written, by the object or list that has them and by its key. */
const changed = new WeakMap<object, Map<string, string>>();

/** Nearly always, nothing is remembered, and `JSON.stringify` alone is faster. */
let isEmpty = true;

/** `JSON.stringify` cannot write a number as text: it writes a string with this unguessable prefix, which is then replaced. */
const MARK = randomUUID();
const MARKED = new RegExp(`"${MARK}([^"]*)"`, 'g');

/** Remembers how the numbers of a value were written, so that {@link exactJson} writes what is only passed on as it came. */
export function rememberNumbers(text: string, value: unknown): void {
  const reading: Reading = { root: value, containers: [], word: '' };
  const tokens = new JsonTokens(text);
  for (let kind = tokens.next(); kind; kind = tokens.next())
    STEPS[kind](reading, tokens.token, reading.containers.at(-1));
}

/** How far a text was read, beside the value that was parsed from it. */
interface Reading {
  readonly root: unknown;
  readonly containers: Container[];
  /** The latest string, perhaps a key. */
  word: string;
}

interface Container {
  readonly value: unknown;
  readonly isList: boolean;
  /** Of the current member. */
  key: string;
}

const STEPS: Readonly<
  Record<JsonTokenKind, (reading: Reading, token: string, within: Container | undefined) => void>
> = {
  open({ root, containers }, token, within) {
    const value = within ? memberOf(within.value, within.key) : root;
    const isList = token === '[';
    containers.push({ value, isList, key: isList ? '0' : '' });
  },
  close: ({ containers }) => void containers.pop(),
  string(reading, token) {
    reading.word = token;
  },
  colon({ word }, _, within) {
    if (within) within.key = String(JSON.parse(word));
  },
  comma(_, __, within) {
    if (within?.isList) within.key = String(Number(within.key) + 1);
  },
  scalar(_, token, within) {
    if (within) remember(within.value, within.key, token);
  },
};

function remember(container: unknown, key: string, literal: string): void {
  const held = memberOf(container, key);
  if (!isObject(container) || typeof held !== 'number') return;
  if (String(held) === literal || held !== Number(literal)) return;
  const literals = changed.get(container) ?? new Map<string, string>();
  changed.set(container, literals.set(key, literal));
  isEmpty = false;
}

function memberOf(container: unknown, key: string): unknown {
  return isObject(container) && Object.hasOwn(container, key) ? Reflect.get(container, key) : undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

interface Writing {
  readonly indent?: number | undefined;
  /** Replaces a member before it is written. */
  readonly replace?: (member: unknown) => unknown;
}

/** As `JSON.stringify`, with the numbers of what was read as they were written: 9007199254740993, 1e999. */
export function exactJson(value: unknown, { indent, replace }: Writing = {}): string {
  if (isEmpty) return JSON.stringify(value, replace && ((_, member) => replace(member)), indent);
  const json = JSON.stringify(
    value,
    function (this: object, key, member) {
      const literal = typeof member === 'number' ? changed.get(this)?.get(key) : undefined;
      if (literal !== undefined) return MARK + literal;
      return replace ? replace(member) : member;
    },
    indent,
  );
  return json?.replace(MARKED, '$1');
}
