import type { Said } from '../controls.js';
import type { Looking } from '../looking.js';
import type { SessionOptions } from '../options.js';
import type { State } from '../state/state.js';

/** What a doing works with: what is looked at, what can be made happen, and how to tell of it. */
export interface House extends Pick<SessionOptions, 'world' | 'controls'> {
  readonly state: State;
  readonly looking: Looking;
  /** How far what stands in front can be scrolled. */
  readonly most: number;
  change(change: Partial<State>): void;
  say(said: Said | null): void;
}

export const good = (text: string): Said => ({ text, isBad: false });

export const bad = (text: string): Said => ({ text, isBad: true });
