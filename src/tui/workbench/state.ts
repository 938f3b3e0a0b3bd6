import type { Book } from '../../events/call-log.js';
import type { Exchange } from '../../events/exchange.js';
import { openQuestions } from '../../events/questions.js';
import type { UserChoice } from '../../protocol/callbacks.js';
import type { Tool } from '../../protocol/toolset.js';
import type { Line } from '../../render/line.js';
import { type Browsing, firstBrowsing } from '../calls/list.js';
import type { Typed } from '../keys.js';
import type { Askable, Picker } from '../picker.js';
import type { Form } from './form/form.js';
import { type Draft, definitionsIn, rivalsOf, type Server, type Volume, type World } from './model.js';
import { TABS, type Tab } from './tabs.js';

/** A draft that is to be sent. */
export interface Order {
  readonly draft: Draft;
  readonly validates: boolean;
  /** The filling that it is of; the name of the call that is run again. */
  readonly of: symbol | string;
}

/** Nothing is sent twice. */
export function isUnderWay(orders: readonly Order[], of: Order['of']): boolean {
  return orders.some(order => order.of === of);
}

/** Whether a call is run again: no form shows that it is on its way. */
export function isRunAgain({ of }: Order): boolean {
  return typeof of === 'string';
}

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

/** A row of the list of tools: a server, or one of its operations. */
export type Entry =
  | { readonly id: string; readonly kind: 'server'; readonly server: Server }
  | {
      readonly id: string;
      readonly kind: 'operation';
      readonly server: Server;
      readonly tool: Tool;
      /** How many configured toolsets define it: of several none is used (RT-TOOLSET). */
      readonly rivals: number;
    };

/** Each server, and below it what it offers. */
export function entriesOf(servers: readonly Server[]): readonly Entry[] {
  const definitions = definitionsIn(servers);
  return servers.flatMap(server => [
    { id: serverEntryId(server.id), kind: 'server' as const, server },
    ...toolsOf(server).map(tool => ({
      id: operationEntryId(server.id, tool.name),
      kind: 'operation' as const,
      server,
      tool,
      rivals: rivalsOf(server, tool.name, definitions),
    })),
  ]);
}

/** @param server its id */
export function serverEntryId(server: string): string {
  return JSON.stringify([server]);
}

export function operationEntryId(server: string, operation: string): string {
  return JSON.stringify([server, operation]);
}

function toolsOf({ state }: Server): readonly Tool[] {
  return state.kind === 'ready' ? state.toolset.tools : [];
}

/** Where the selected entry stands: the first operation where none is selected, or the selected one is gone. */
export function entryIndex(entries: readonly Entry[], selected: string | null): number {
  const index = entries.findIndex(({ id }) => id === selected);
  if (index >= 0) return index;
  return Math.max(
    0,
    entries.findIndex(({ kind }) => kind === 'operation'),
  );
}

export function selectedEntry(
  { tools }: Pick<State, 'tools'>,
  servers: readonly Server[],
): Entry | undefined {
  const entries = entriesOf(servers);
  return entries[entryIndex(entries, tools.selected)];
}

/** Nothing was opened, left, selected or typed since. */
export function isSamePlace(before: State, { page, overlay, calls, filling }: State): boolean {
  return (
    page === before.page &&
    overlay === before.overlay &&
    calls === before.calls &&
    filling?.form === before.filling?.form
  );
}

/** Forms that are kept at most: the one that was left longest ago goes. */
const MOST = 50;

/** Whose a form is. */
type Filled = Pick<Filling, 'server' | 'operation' | 'about'>;

/** A form as it was left, if it is known. */
export function fillingOf({ filling, left }: State, whose: Filled): Filling | undefined {
  return [...left, ...(filling ? [filling] : [])].find(each => isSame(each, whose));
}

/** That form instead of the one before, which can be come back to. */
export function filledIn({ filling, left }: State, next: Filling): Pick<State, 'filling' | 'left'> {
  return { filling: next, left: kept([...left, ...(filling ? [filling] : [])], next) };
}

/** That form among those that were left. */
export function leftBehind({ left }: State, another: Filling): Pick<State, 'left'> {
  return { left: [...kept(left, another), another].slice(-MOST) };
}

/** A change of one form, wherever it is. */
export function refilled(
  { filling, left }: State,
  id: Filling['id'] | string,
  step: (filling: Filling) => Filling,
): Pick<State, 'filling' | 'left'> {
  const stepped = (each: Filling) => (each.id === id ? step(each) : each);
  return { filling: filling && stepped(filling), left: left.map(stepped) };
}

function kept(fillings: readonly Filling[], next: Filled): readonly Filling[] {
  return fillings.filter(each => !isSame(each, next)).slice(-MOST);
}

function isSame(one: Filled, other: Filled): boolean {
  return one.server === other.server && one.operation === other.operation && one.about === other.about;
}

/** The call that is looked at, and where it is from. */
export interface Looking {
  readonly volume: Volume;
  readonly book: Book;
  readonly key: string | null;
  readonly exchange: Exchange | undefined;
}

/** The selected call; the newest where none is, or the selected one is gone. */
export function lookingAt({ calls }: State, { volumes }: World): Looking {
  const volume = volumes.find(({ id }) => id === calls.volume) ?? volumes[0];
  if (!volume) throw new Error('there is always the volume of this session');
  const { book } = volume;
  const isKnown = calls.selected !== null && book.history.exchanges.has(calls.selected);
  const key = (isKnown ? calls.selected : book.keys.at(-1)) ?? null;
  return { volume, book, key, exchange: key === null ? undefined : book.history.exchanges.get(key) };
}

/** A choice that a tool waits for. */
interface OpenChoice {
  readonly key: string;
  readonly leg: string;
  readonly question: UserChoice;
}

/** The oldest choice that a tool waits for: of the selected call, else of any. */
export function openQuestion({ key }: Looking, book: Book): OpenChoice | null {
  const own = key === null ? null : choiceOf(key, book);
  if (own) return own;
  for (const each of book.underWay) {
    const choice = choiceOf(each, book);
    if (choice) return choice;
  }
  return null;
}

function choiceOf(key: string, { history }: Book): OpenChoice | null {
  const exchange = history.exchanges.get(key);
  for (const { leg, message } of exchange ? openQuestions(exchange) : [])
    if (message.type === 'user_choice') return { key, leg, question: message };
  return null;
}

/** Of a description, which may be a book: as much as a row shows. */
export function firstLineOf(text: string): string {
  return text.slice(0, 400).split('\n', 1)[0] ?? '';
}
