import type { Key } from 'ink';
import type { Press } from '../../src/tui/keys.js';

const NONE: Key = {
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

/** A press as Ink tells it. */
export function pressed(input: string, key: Partial<Key> = {}): Press {
  return { input, key: { ...NONE, ...key } };
}
