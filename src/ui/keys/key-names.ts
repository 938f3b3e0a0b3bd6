import type { Key } from 'ink';

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

/** The name of what was pressed, as the tables of keys have it: `j`, `G`, `enter`, `shift+tab`, `ctrl+c`. */
export function nameOf({ input, key }: Press): string {
  const known = (Object.keys(NAMES) as (keyof typeof NAMES)[]).find(name => key[name]);
  const name = known === undefined ? (input === ' ' ? 'space' : input) : NAMES[known];
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
