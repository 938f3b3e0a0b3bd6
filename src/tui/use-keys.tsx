import { type Key, useInput, useStdin } from 'ink';
import { useEffect } from 'react';
import type { KeyboardEvents } from './keyboard.js';
import { type Press, pressOf } from './keys.js';

/** Calls `onPress` for each key, and for each piece of text that arrives at once, in raw mode. */
export function useKeys(onPress: (press: Press) => void, isActive = true): void {
  useInput(
    (input, key) => {
      const press = pressOfInput(input, key);
      if (press) onPress(press);
    },
    { isActive },
  );
}

/** Calls `onText` for each pasted text while a component reads keys. */
export function usePaste(onText: (...event: KeyboardEvents['paste']) => void): void {
  useKeyboardEvent('paste', onText);
}

/**
 * Calls `onWheel` when the mouse wheel turns, while a component reads keys. `@ink-tools/ink-mouse` has a second reader of stdin, leaves the
 * sequences to Ink as text, and reports every movement of the mouse.
 */
export function useWheel(onWheel: (...event: KeyboardEvents['wheel']) => void): void {
  useKeyboardEvent('wheel', onWheel);
}

function useKeyboardEvent<Name extends keyof KeyboardEvents>(
  name: Name,
  onEvent: (...event: KeyboardEvents[Name]) => void,
): void {
  const { stdin } = useStdin();
  useEffect(() => {
    stdin.on(name, onEvent);
    return () => void stdin.off(name, onEvent);
  }, [stdin, name, onEvent]);
}

/** Ink's names of keys without text. */
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
  tab: 'tab',
  backspace: 'erase',
  delete: 'delete',
} as const satisfies Partial<Record<keyof Key, string>>;

/** Null for a key without a name. */
function pressOfInput(input: string, key: Key): Press | null {
  if (key.escape) return { name: 'escape', text: '' };
  const [, named] = Object.entries(NAMES).find(([name]) => key[name as keyof typeof NAMES]) ?? [];
  if (named === undefined && input === '') return null;
  const press = named === undefined ? pressOf(input) : { name: named, text: '' };
  if (key.ctrl) return { name: `ctrl+${press.name}`, text: '' };
  if (key.meta) return { name: `meta+${press.name}`, text: '' };
  return key.shift && named === 'tab' ? { name: 'shift+tab', text: '' } : press;
}
