import type { Key } from 'ink';
import type { Press } from '../../src/tui/keys.js';

/** A press as Ink reports it: flags that are missing are off. */
export function pressed(input: string, key: Partial<Key> = {}): Press {
  return { input, key: key as Key };
}
