import { type Key, useStdin } from 'ink';
import { useEffect } from 'react';
import type { Press } from '../keys.js';

/**
 * Calls `onPress` for each key, and for each piece of text that arrives at once, in raw mode. Replaces Ink's `useInput`, which throws
 * at a sequence with a Ctrl modifier that it does not know, and passes others on as text.
 */
export function useKeys(onPress: (input: string, key: Key) => void, isActive = true): void {
  const { setRawMode, internal_eventEmitter: sequences } = useStdin();
  useEffect(() => {
    if (!isActive) return;
    setRawMode(true);
    return () => setRawMode(false);
  }, [isActive, setRawMode]);
  useEffect(() => {
    if (!isActive) return;
    const read = (sequence: string) => {
      const press = readSequence(sequence);
      if (press) onPress(press.input, press.key);
    };
    sequences.on('input', read);
    return () => void sequences.off('input', read);
  }, [isActive, sequences, onPress]);
}

const ESC = '\u001b';
const NO_KEY: Key = {
  upArrow: false,
  downArrow: false,
  leftArrow: false,
  rightArrow: false,
  pageDown: false,
  pageUp: false,
  home: false,
  end: false,
  return: false,
  escape: false,
  ctrl: false,
  shift: false,
  tab: false,
  backspace: false,
  delete: false,
  meta: false,
  super: false,
  hyper: false,
  capsLock: false,
  numLock: false,
};

/** Keys of one character; each but Enter has no text. */
const BY_CHARACTER: ReadonlyMap<string, keyof Key> = new Map([
  ['\r', 'return'],
  ['\t', 'tab'],
  ['\b', 'backspace'],
  ['\u007f', 'delete'],
  [ESC, 'escape'],
]);

/** The last character of a CSI or SS3 sequence; rxvt sends small letters for Shift (CSI) and Ctrl (SS3). */
const BY_FINAL: Readonly<Record<string, keyof Key>> = {
  A: 'upArrow',
  B: 'downArrow',
  C: 'rightArrow',
  D: 'leftArrow',
  F: 'end',
  H: 'home',
};

/** The number of a CSI sequence that ends with `~`; in rxvt with `$` (Shift) or `^` (Ctrl). */
const BY_NUMBER: Readonly<Record<string, keyof Key>> = {
  1: 'home',
  3: 'delete',
  4: 'end',
  5: 'pageUp',
  6: 'pageDown',
  7: 'home',
  8: 'end',
};

const SEQUENCE = new RegExp(
  `^(${ESC}?)${ESC}(\\[\\[?|O)(\\d*)(?:;(\\d+)(?::(\\d+))?)?(?:;[\\d:]*)?([A-Za-z~$^])$`,
);
const RELEASED = '3';
const MODIFIER = { shift: 1, alt: 2, ctrl: 4, meta: 8 } as const;

/** What a piece of input means, as Ink's parser splits it; null for an escape sequence of a key that no screen uses. */
export function readSequence(sequence: string): Press | null {
  if (!sequence.startsWith(ESC) || sequence === ESC) return readText(sequence);
  const rest = sequence.slice(1);
  if (rest === ESC) return readText(ESC);
  if (/^[A-Za-z0-9 \r\b\u007f]$/.test(rest)) return withKey(readText(rest), { meta: true });
  if (!/^[[O]/.test(rest) && !rest.startsWith(ESC)) return readText(rest);
  const [, alt, intro = '', number = '', modifiers = '1', event, final = ''] = SEQUENCE.exec(sequence) ?? [];
  if (final === '' || event === RELEASED) return null;
  const press = readControl(intro, number, final);
  const bits = Math.max(0, Number(modifiers) - 1);
  return (
    press &&
    withKey(press, {
      shift: press.key.shift || (bits & MODIFIER.shift) !== 0,
      ctrl: press.key.ctrl || (bits & MODIFIER.ctrl) !== 0,
      meta: press.key.meta || alt !== '' || (bits & (MODIFIER.alt | MODIFIER.meta)) !== 0,
    })
  );
}

function readControl(intro: string, number: string, final: string): Press | null {
  if (intro === '[' && final === 'u') return readCodePoint(Number(number));
  if (intro === '[' && final === 'Z') return named('tab', { shift: true });
  if (final === '~' || final === '$' || final === '^')
    return named(BY_NUMBER[number], { shift: final === '$', ctrl: final === '^' });
  if (intro === '[[' || (number !== '' && number !== '1')) return null;
  const isRxvt = final >= 'a' && final <= 'd';
  return named(isRxvt ? BY_FINAL[final.toUpperCase()] : BY_FINAL[final], {
    shift: isRxvt && intro === '[',
    ctrl: isRxvt && intro === 'O',
  });
}

/** A key as the Kitty keyboard protocol sends it. Codes from 57344 on are keys without a character. */
function readCodePoint(code: number): Press | null {
  const hasCharacter = code > 0 && code <= 0x10_ffff && !(code >= 0xd800 && code <= 0xf8ff);
  return hasCharacter ? readText(String.fromCodePoint(code)) : null;
}

function readText(text: string): Press {
  const name = BY_CHARACTER.get(text);
  if (name) return { input: text === '\r' ? text : '', key: { ...NO_KEY, [name]: true, meta: text === ESC } };
  if (text.length === 1 && text <= '\u001a' && text !== '\n')
    return { input: String.fromCharCode(text.charCodeAt(0) + 0x60), key: { ...NO_KEY, ctrl: true } };
  return { input: text, key: { ...NO_KEY, shift: /^[A-Z]$/.test(text) } };
}

function named(name: keyof Key | undefined, modifiers: Partial<Key>): Press | null {
  return name === undefined ? null : { input: '', key: { ...NO_KEY, ...modifiers, [name]: true } };
}

function withKey({ input, key }: Press, change: Partial<Key>): Press {
  return { input, key: { ...key, ...change } };
}
