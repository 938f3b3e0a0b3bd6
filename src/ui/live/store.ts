import { createStore, type Store } from '../store.js';
import type { Size } from '../terminal.js';
import type { Scene } from './frame.js';

export interface LiveState {
  readonly scene: Scene;
  readonly size: Size;
  /** Something can be pressed: until then what is typed is for whoever has the terminal next. */
  readonly takesKeys: boolean;
}

export type LiveStore = Store<LiveState>;

export const createLiveStore = createStore<LiveState>;
