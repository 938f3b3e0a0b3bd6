import { type Key, render, useStdin } from 'ink';
import { useEffect, useLayoutEffect, useSyncExternalStore } from 'react';
import { beforeForcedEnd } from '../system/process.js';
import { Screen, type Shown } from './components.js';
import type { Press } from './keys.js';
import { type Store, unbounded } from './terminal.js';

interface AppProps {
  readonly store: Store<Shown>;
  readonly onPress: (input: string, key: Key) => void;
  /** Called when the screen is unmounted, for any reason. */
  readonly onLeave: () => void;
}

function App({ store, onPress, onLeave }: AppProps) {
  const shown = useSyncExternalStore(store.subscribe, store.snapshot);
  useKeys(onPress);
  useLayoutEffect(() => onLeave, [onLeave]);
  return <Screen {...shown} />;
}

/** Draws the frames of the store with Ink until the view is closed, or a second signal ends the process. */
export function inkView(
  props: AppProps,
  { stdin, stdout }: { readonly stdin: NodeJS.ReadStream; readonly stdout: NodeJS.WriteStream },
) {
  const options = { stdin, stdout: unbounded(stdout), exitOnCtrlC: false, patchConsole: false };
  const view = render(<App {...props} />, options);
  const forget = beforeForcedEnd(() => view.unmount());
  return {
    async close(): Promise<void> {
      const over = view.waitUntilExit();
      view.unmount();
      await over;
      forget();
    },
  };
}

/**
 * Calls `onPress` for each key, and for each piece of pasted text, in raw mode. Replaces Ink's `useInput`, which throws on unknown
 * sequences with a Ctrl modifier, and reports other unknown sequences as text.
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

/** Single-character keys; none has a text, except Enter. */
const BY_CHARACTER: ReadonlyMap<string, keyof Key> = new Map([
  ['\r', 'return'],
  ['\t', 'tab'],
  ['\b', 'backspace'],
  ['\u007f', 'delete'],
  [ESC, 'escape'],
]);

/** The last character of a CSI or SS3 sequence. */
const BY_FINAL: Readonly<Record<string, keyof Key>> = {
  A: 'upArrow',
  B: 'downArrow',
  C: 'rightArrow',
  D: 'leftArrow',
  F: 'end',
  H: 'home',
  Z: 'tab', // with Shift
};

/** The number in a CSI sequence that ends with `~`. */
const BY_NUMBER: Readonly<Record<string, keyof Key>> = {
  1: 'home',
  3: 'delete',
  4: 'end',
  5: 'pageUp',
  6: 'pageDown',
  7: 'home',
  8: 'end',
};

const SEQUENCE = new RegExp(`^(${ESC}?)${ESC}[[O](\\d*)(?:;(\\d+))?([A-Z~])$`);
const MODIFIER = { shift: 1, alt: 2, ctrl: 4, meta: 8 } as const;

/** Interprets a piece of input, as split by Ink's parser; null for the escape sequence of an unused key. */
export function readSequence(sequence: string): Press | null {
  if (!sequence.startsWith(ESC) || sequence === ESC) return readText(sequence);
  const rest = sequence.slice(1);
  if (rest === ESC) return readText(ESC);
  if (/^[A-Za-z0-9 \r\b\u007f]$/.test(rest)) return withKey(readText(rest), { meta: true });
  if (!/^[[O]/.test(rest) && !rest.startsWith(ESC)) return readText(rest);
  const [, alt, number = '', modifiers = '1', final = ''] = SEQUENCE.exec(sequence) ?? [];
  const name = final === '~' ? BY_NUMBER[number] : /^1?$/.test(number) ? BY_FINAL[final] : undefined;
  if (name === undefined) return null;
  const bits = Math.max(0, Number(modifiers) - 1);
  return withKey(
    { input: '', key: NO_KEY },
    {
      [name]: true,
      shift: final === 'Z' || (bits & MODIFIER.shift) !== 0,
      ctrl: (bits & MODIFIER.ctrl) !== 0,
      meta: alt !== '' || (bits & (MODIFIER.alt | MODIFIER.meta)) !== 0,
    },
  );
}

function readText(text: string): Press {
  const name = BY_CHARACTER.get(text);
  if (name) return { input: text === '\r' ? text : '', key: { ...NO_KEY, [name]: true, meta: text === ESC } };
  if (text.length === 1 && text <= '\u001a' && text !== '\n')
    return { input: String.fromCharCode(text.charCodeAt(0) + 0x60), key: { ...NO_KEY, ctrl: true } };
  return { input: text, key: { ...NO_KEY, shift: /^[A-Z]$/.test(text) } };
}

function withKey({ input, key }: Press, change: Partial<Key>): Press {
  return { input, key: { ...key, ...change } };
}
