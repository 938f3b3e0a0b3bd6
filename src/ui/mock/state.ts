import { type Browsing, firstBrowsing } from '../calls/browsing.js';
import type { Typed } from '../prompt/step.js';
import type { Tab } from './sheets/tabs.js';

/** Something between a person and the calls. */
export type Overlay =
  | { readonly kind: 'help'; readonly scroll: number }
  | { readonly kind: 'search'; readonly prompt: Typed };

/** What a person looks at, and what they made the mock do. Changed by keys alone. */
export interface State {
  readonly overlay: Overlay | null;
  readonly calls: Browsing<Tab>;
  readonly isPaused: boolean;
}

export const FIRST_STATE: State = { overlay: null, calls: firstBrowsing<Tab>('call'), isPaused: false };
