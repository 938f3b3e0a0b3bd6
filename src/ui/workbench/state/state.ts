import type { Line } from '../../../story/line.js';
import { type Browsing, firstBrowsing } from '../../calls/browsing.js';
import type { Askable, Picker } from '../../live/picker.js';
import type { Typed } from '../../prompt/step.js';
import type { Form } from '../form/index.js';
import { TABS, type Tab } from '../tabs/index.js';
import type { Order } from './orders.js';

/** What a text is typed for. */
export type Purpose = 'server' | 'transcript' | 'save-transcript' | 'save-fixture' | 'search';

/** A line that is typed at the bottom. */
export interface Prompt extends Typed {
  readonly purpose: Purpose;
  /** The call that it was asked about: another may be selected by the time it is typed. */
  readonly about: CallPlace | null;
}

/** A call, and the id of the volume that it is in. */
export interface CallPlace {
  readonly key: string;
  readonly volume: number;
}

/** Something between a person and the rest of the screen. */
export type Overlay =
  | { readonly kind: 'help'; readonly scroll: number }
  | { readonly kind: 'prompt'; readonly prompt: Prompt }
  /** What a tool asks. */
  | { readonly kind: 'question'; readonly key: string; readonly leg: string; readonly picker: Picker }
  /** What we ask: whether a destructive operation is to be called. */
  | {
      readonly kind: 'consent';
      readonly order: Order;
      readonly picker: Picker<Askable>;
    }
  /** What was copied, to be copied by hand too. */
  | {
      readonly kind: 'copied';
      readonly title: Line;
      readonly text: string;
      /** A command for a shell. */
      readonly isShell: boolean;
      readonly scroll: number;
    };

/** A form that is being filled in. */
export interface Filling {
  /** Of this very form: what becomes of its call is shown in no other, be it of the same operation. */
  readonly id: symbol;
  readonly server: string;
  readonly operation: string;
  /** The name of the call that is edited in it; null for the operation's own. */
  readonly about: string | null;
  /** In its own words, on one line. */
  readonly description: string;
  readonly form: Form;
}

/** What a person looks at; changed by keys alone. */
export interface State {
  readonly page: 'tools' | 'form' | 'calls';
  readonly overlay: Overlay | null;
  readonly tools: {
    readonly selected: string | null;
    readonly wanted: string | null;
    readonly scroll: number;
  };
  /** The form that is filled in now, or was last. */
  readonly filling: Filling | null;
  /** Others that were left, the latest last. */
  readonly left: readonly Filling[];
  /** What is on its way: nothing is sent twice. */
  readonly orders: readonly Order[];
  readonly calls: Browsing<Tab> & { readonly volume: number };
}

export const FIRST_STATE: State = {
  page: 'tools',
  overlay: null,
  tools: { selected: null, wanted: null, scroll: 0 },
  filling: null,
  left: [],
  orders: [],
  calls: { ...firstBrowsing<Tab>(TABS[0]), volume: 0 },
};
