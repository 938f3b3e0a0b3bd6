import type { Key } from 'ink';
import { type Line, quote, type Span, say, type Tone } from '../render/line.js';
import { LazySegmenter } from '../render/terminal/lazy-segmenter.js';
import { cutLine, widthOf } from '../render/terminal/theme.js';

/** What a key asks for in a place. */
export interface Binding<Place extends string, Command extends string> {
  readonly command: Command;
  readonly place: Place;
  /** Names of keys, see `nameOf`. */
  readonly keys: readonly string[];
  /** As it is shown. */
  readonly label: string;
  readonly does: string;
}

/** @param keys their names, a space between them */
export function bind<Place extends string, Command extends string>(
  place: Place,
  command: Command,
  keys: string,
  label: string,
  does: string,
): Binding<Place, Command> {
  return { command, place, keys: keys.split(' '), label, does };
}

/** What a key means where it is pressed: in the first of these places that knows it. */
export function commandIn<Place extends string, Command extends string>(
  bindings: readonly Binding<Place, Command>[],
  name: string,
  places: readonly Place[],
): Command | undefined {
  for (const place of places)
    for (const { command, keys, place: own } of bindings)
      if (own === place && keys.includes(name)) return command;
  return undefined;
}

/** Keys, and what they do somewhere. */
export interface KeyTable {
  readonly title: string;
  readonly keys: readonly { readonly label: string; readonly does: string }[];
}

/** The keys of each place, in the order of the places. @param first those that come before the others */
export function tablesOf<Place extends string>(
  bindings: readonly Binding<Place, string>[],
  titles: Readonly<Record<Place, string>>,
  first: readonly Place[] = [],
): readonly KeyTable[] {
  const places = new Set([...first, ...(Object.keys(titles) as Place[])]);
  return [...places].map(place => ({
    title: titles[place],
    keys: bindings.filter(binding => binding.place === place),
  }));
}

/** All keys, for the help. */
export function keyLines(tables: readonly KeyTable[]): readonly Line[] {
  const width = Math.max(...tables.flatMap(({ keys }) => keys.map(({ label }) => label.length)));
  return tables.flatMap(({ title, keys }, index) => [
    ...(index === 0 ? [] : [[]]),
    [say(title.toUpperCase(), 'title')],
    ...keys.map(
      ({ label, does }): Line => [
        say('  '),
        say(label.padEnd(width), 'title'),
        say('  ', 'gutter'),
        say(does),
      ],
    ),
  ]);
}

/** What was pressed. */
export interface Press {
  readonly input: string;
  readonly key: Key;
}

const NAMES = {
  upArrow: 'up',
  downArrow: 'down',
  leftArrow: 'left',
  rightArrow: 'right',
  pageUp: 'pageup',
  pageDown: 'pagedown',
  home: 'home',
  end: 'end',
  return: 'enter',
  escape: 'escape',
  tab: 'tab',
  backspace: 'erase',
  delete: 'erase', // most terminals send DEL for the backspace key
} as const satisfies Partial<Record<keyof Key, string>>;

/** The name of a key as the key tables have it: `j`, `G`, `enter`, `shift+tab`, `ctrl+c`; empty for pasted text, even `escape`. */
export function nameOf({ input, key }: Press): string {
  const known = (Object.keys(NAMES) as (keyof typeof NAMES)[]).find(name => key[name]);
  const typed = input === ' ' ? 'space' : /^.$/su.test(input) ? input : '';
  const name = known === undefined ? typed : NAMES[known];
  if (key.ctrl) return `ctrl+${name}`;
  if (key.meta && !key.escape) return `meta+${name}`; // Esc and a letter in one piece are not that letter
  return key.shift && name === 'tab' ? 'shift+tab' : name;
}

/** What arrives at once may be several keys: whoever types fast, or a program that types. */
export function pressesIn(press: Press): readonly Press[] {
  const { input, key } = press;
  if (input.length <= 1 || key.ctrl) return [press];
  return [...input].map(character => pressOf(character, key));
}

/** What ends a line that is typed. */
const LINE_ENDS: ReadonlySet<string> = new Set(['\r', '\n', '\u001b']);
const INTERRUPT = '\u0003';
/** A text, or a control character that is no part of one. */
const LINE_PIECES = /\P{Cc}+|\p{Cc}/gu;
const PIECES = /[\P{Cc}\t\n\r]+|\p{Cc}/gu;

/**
 * The same where a line is typed: its characters stay together. What comes behind its end was pasted, and is not obeyed as keys: only
 * Ctrl-C is never lost.
 */
export function lineTypedIn(press: Press): readonly Press[] {
  const { input, key } = press;
  if (input.length <= 1 || key.ctrl) return [press];
  const end = lineEnd(input);
  const interrupt = input.includes(INTERRUPT, end) ? [INTERRUPT] : [];
  const pieces = [...(input.slice(0, end).match(LINE_PIECES) ?? []), ...interrupt];
  return pieces.map(piece => (piece.length === 1 ? pressOf(piece, key) : { input: piece, key }));
}

/** What came in one piece with a line, behind its end; empty where nothing did that could be missed. */
export function behindLine({ input, key }: Press): string {
  return input.length <= 1 || key.ctrl ? '' : input.slice(lineEnd(input)).replaceAll(INTERRUPT, '').trim();
}

/** With what ends it. */
function lineEnd(input: string): number {
  const at = [...input.matchAll(/\p{Cc}/gu)].find(([character]) => LINE_ENDS.has(character))?.index;
  return at === undefined ? input.length : at + 1;
}

/** The same where text is typed: characters stay together, but an Enter or a Tab at their end is a key, and so is each control character. */
export function typedIn(press: Press): readonly Press[] {
  const { input, key } = press;
  if (input.length <= 1 || key.ctrl) return [press];
  return (input.match(PIECES) ?? []).flatMap(piece => {
    if (piece.length === 1) return [pressOf(piece, key)];
    if (!/^[^\r\n\t]+[\r\n\t]$/.test(piece)) return [{ input: piece, key }];
    return [{ input: piece.slice(0, -1), key }, pressOf(piece.slice(-1), key)];
  });
}

/** One character as Ink would tell it, had it come alone. */
function pressOf(character: string, key: Key): Press {
  const isEnter = character === '\r' || character === '\n';
  const isTab = character === '\t';
  const isErase = character === '\b' || character === '\u007f';
  const isEscape = character === '\u001b';
  const isCtrl = character >= '\u0001' && character <= '\u001a' && !isEnter && !isTab && !isErase;
  return {
    input: isCtrl ? String.fromCharCode(character.charCodeAt(0) + LETTERS) : character,
    key: { ...key, return: isEnter, tab: isTab, delete: isErase, escape: isEscape, ctrl: isCtrl },
  };
}

/** From Ctrl-A to a. */
const LETTERS = 0x60;

/** A key, and what it does. */
export type Hint = readonly [key: string, does: string];

const GAP = say('   ');

/** Keys in a line of `width` cells: as many of the first as there is room for, and always the last ones. */
export function hintsLine(hints: readonly Hint[], always: readonly Hint[], width: number): Line {
  const ends = always.map(hintLine);
  const left = width - widthOf(spread(ends));
  return cutLine(spread([...fitting(hints.map(hintLine), left), ...ends]), width);
}

function hintLine([key, does]: Hint): Line {
  return [say(key, 'title'), say(` ${does}`, 'dim')];
}

function spread(hints: readonly Line[]): Line {
  return hints.flatMap((hint, index) => (index === 0 ? hint : [GAP, ...hint]));
}

/** The first ones that fit, each with a gap after it. */
function fitting(hints: readonly Line[], width: number): readonly Line[] {
  let left = width;
  return hints.filter(hint => {
    left -= widthOf(hint) + GAP.text.length;
    return left >= 0;
  });
}

const SCROLLS: Readonly<Record<string, number>> = {
  up: -1,
  k: -1,
  down: 1,
  j: 1,
  pageup: -10,
  pagedown: 10,
  space: 10,
  home: Number.NEGATIVE_INFINITY,
  g: Number.NEGATIVE_INFINITY,
  end: Number.POSITIVE_INFINITY,
  G: Number.POSITIVE_INFINITY,
};

const CLOSES: ReadonlySet<string> = new Set(['escape', 'enter', '?', 'ctrl+g', 'q']);

/** The keys of a page that is only read. */
export const PAGE_HINTS: readonly Hint[] = [['↑↓ PgUp PgDn', 'scroll']];
export const PAGE_ENDS: readonly Hint[] = [
  ['Esc', 'close'],
  ['Ctrl-C', 'quit'],
];

/**
 * What a key does to a page that is only read: how many rows of it are above then, at most `most`; or it closes it; or, `beneath`, it
 * is none of its keys.
 */
export function pressedOnPage(name: string, scroll: number, most: number): number | 'close' | 'beneath' {
  const by = SCROLLS[name];
  if (by !== undefined) return Math.max(0, Math.min(most, scroll + by));
  return CLOSES.has(name) ? 'close' : 'beneath';
}

/** A line that is typed. */
export interface Typed {
  readonly text: string;
  /** Characters before the cursor. */
  readonly cursor: number;
}

/** A line of text after a key. No control character gets into it; what ends a line is for whoever reads the keys. */
export function stepPrompt<Prompt extends Typed>(prompt: Prompt, press: Press): Prompt {
  const { text, cursor } = prompt;
  const at = (to: number) => ({ ...prompt, cursor: Math.max(0, Math.min(text.length, to)) });
  switch (nameOf(press)) {
    case 'left':
      return at(before(text, cursor));
    case 'right':
      return at(after(text, cursor));
    case 'home':
    case 'ctrl+a':
      return at(0);
    case 'end':
    case 'ctrl+e':
      return at(text.length);
    case 'erase':
      return without(prompt, before(text, cursor));
    case 'ctrl+u':
      return without(prompt, 0);
    case 'ctrl+w':
      return without(prompt, text.slice(0, cursor).trimEnd().lastIndexOf(' ') + 1);
    default:
      return press.key.ctrl || press.key.meta ? prompt : typed(prompt, press.input);
  }
}

function typed<Prompt extends Typed>(prompt: Prompt, input: string): Prompt {
  const { text, cursor } = prompt;
  const piece = [...input].filter(character => character >= ' ').join('');
  return {
    ...prompt,
    text: text.slice(0, cursor) + piece + text.slice(cursor),
    cursor: cursor + piece.length,
  };
}

function without<Prompt extends Typed>(prompt: Prompt, from: number): Prompt {
  const { text, cursor } = prompt;
  return { ...prompt, text: text.slice(0, from) + text.slice(cursor), cursor: from };
}

/** A character may be two units long. */
function before(text: string, cursor: number): number {
  return cursor - ([...text.slice(0, cursor)].at(-1)?.length ?? 0);
}

function after(text: string, cursor: number): number {
  return cursor + ([...text.slice(cursor, cursor + 2)][0]?.length ?? 0);
}

const CLUSTERS = new LazySegmenter();
const MORE = say('…', 'dim');

/** As much of a text on one line as `width` cells hold, the cursor always among it: a text may be megabytes long. */
export function typedLine({ text, cursor }: Typed, width: number, tone: Tone = 'plain'): Line {
  const before = cells(text.slice(Math.max(0, cursor - 2 * width), cursor), tone);
  const after = cells(text.slice(cursor, cursor + 2 * width), tone);
  const [at = [say(' ')], ...rest] = after;
  const focus = underCursor(at);
  const isWhole = cursor <= 2 * width && widthOf(before.flat()) + widthOf(focus) + 1 <= width;
  const behind = isWhole ? before : lastOf(before, Math.max(0, Math.floor((width * 2) / 3) - 1));
  const start = isWhole ? behind.flat() : [MORE, ...behind.flat()];
  const room = width - widthOf(start) - widthOf(focus);
  return [...start, ...focus, ...firstOf(rest, cursor + 2 * width < text.length, room)];
}

/** A text where nobody types: its start. */
export function quietLine(text: string, width: number, tone: Tone = 'plain'): Line {
  return firstOf(cells(text.slice(0, 2 * width), tone), text.length > 2 * width, width);
}

/** What a person sees as one character each, safe to print. */
function cells(text: string, tone: Tone): readonly Line[] {
  return [...CLUSTERS.segment(text)].map(({ segment }) => quote(segment, tone));
}

function underCursor(cell: Line): Line {
  return cell.map((span): Span => ({ text: span.text, tone: 'cursor' }));
}

function lastOf(all: readonly Line[], width: number): readonly Line[] {
  let left = width;
  const from = all.findLastIndex(cell => {
    left -= widthOf(cell);
    return left < 0;
  });
  return all.slice(from + 1);
}

function firstOf(all: readonly Line[], hasMore: boolean, width: number): Line {
  const whole = all.flat();
  if (!hasMore && widthOf(whole) <= width) return whole;
  let left = width - 1;
  const to = all.findIndex(cell => {
    left -= widthOf(cell);
    return left < 0;
  });
  return width < 1 ? [] : [...all.slice(0, to < 0 ? all.length : to).flat(), MORE];
}

/** A line that goes on, before its cursor, as far as all of these do. @param candidates in order; each begins with what stands there */
export function completed<Prompt extends Typed>(prompt: Prompt, candidates: readonly string[]): Prompt {
  const start = commonStart(candidates.at(0) ?? '', candidates.at(-1) ?? '');
  if (start.length <= prompt.cursor) return prompt;
  return { ...prompt, text: start + prompt.text.slice(prompt.cursor), cursor: start.length };
}

/** Of the first and the last of a sorted list, it is that of all. */
function commonStart(one: string, other: string): string {
  const others = [...other];
  const characters = [...one];
  const end = characters.findIndex((character, index) => character !== others[index]);
  return end < 0 ? one : characters.slice(0, end).join('');
}

/** A line that is typed, with its cursor; of a long one, what is around the cursor. @param label ours, before it */
export function promptLine(label: string, typed: Typed, columns: number): Line {
  return [say(label, 'title'), ...typedLine(typed, Math.max(4, columns - label.length))];
}
