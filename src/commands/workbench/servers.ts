import type { Invocation } from '../../protocol/read-invocation.js';
import type { Tool } from '../../protocol/toolset.js';
import type { ListenerOptions } from '../../runtime/callback-server.js';
import { definitionsIn, type Server } from '../../tui/workbench/model.js';
import { parseJson } from '../../util/json.js';
import { safeJson } from '../../util/redact-json.js';
import { shellWord } from '../../util/strings.js';
import { visibleLine } from '../../util/visible.js';
import type { Consent } from '../invoke/questions.js';
import type { ConfiguredTarget, McpTarget, Target } from '../target.js';
import { type Desk, type Found, type Origin, Place } from './server-connection.js';

/** An operation that may be called, and where. */
export interface Offer extends Found {
  readonly tool: Tool;
  readonly target: ConfiguredTarget;
}

/** The tool servers of a session. */
export class Shelf {
  #places: readonly Place[] = [];
  /** Places that were taken out, until they are stopped. */
  readonly #leaving: Promise<void>[] = [];
  /** Names of those of them that had answered. */
  readonly #gone = new Set<string>();
  #opened = 0;

  constructor(private readonly desk: Desk) {}

  get servers(): readonly Server[] {
    return this.#places.map(({ server }) => server);
  }

  /** Of those that ever answered. */
  get names(): ReadonlySet<string> {
    const answered = this.#places.filter(place => place.hasAnswered).map(({ server }) => server.about);
    return new Set([...this.#gone, ...answered]);
  }

  /** Those that answered. */
  get found(): readonly Found[] {
    return this.#places.flatMap(({ found }) => found ?? []);
  }

  /** Adds a server or finds it, and loads its toolset unless the user must allow it first. Returns its id. */
  add(target: ConfiguredTarget, about: Pick<Origin, 'isConfigured' | 'hasKeys'>): string {
    const known = this.#places.find(({ origin }) => !about.isConfigured && isSame(origin, target));
    const place = known ?? this.#put(target, about);
    if (place.server.state.kind !== 'asleep') void place.ask();
    return place.origin.id;
  }

  restart(id: string): void {
    void this.#placeOf(id)?.restart();
  }

  wake(id: string): void {
    void this.#placeOf(id)?.ask();
  }

  /** Takes one out that failed: what of it may still run is stopped. */
  dismiss(id: string): void {
    const place = this.#placeOf(id);
    if (place?.server.state.kind !== 'failed') return;
    this.#places = this.#places.filter(each => each !== place);
    this.#leaving.push(place.stop());
    if (place.hasAnswered) this.#gone.add(place.server.about);
    this.desk.onChange();
  }

  /** What a draft means; else why it cannot be called (RT-OP, RT-TOOLSET). */
  offer(id: string, operation: string): Offer | string {
    const place = this.#placeOf(id);
    if (!place?.found) return 'its server is not ready';
    const tool = place.found.discovered.toolset.tools.find(({ name }) => name === operation);
    if (!tool) return `its toolset has no operation "${operation}"`;
    const count = place.origin.isConfigured ? (definitionsIn(this.servers).get(operation) ?? 1) : 1;
    if (count === 1)
      return {
        ...place.found,
        tool: strictest(tool, this.#sameAs(place.found, tool)),
        target: place.origin.target,
      };
    return `"${operation}" is defined by ${count} configured toolsets, so neither is used (RT-TOOLSET): open one by its URL`;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#leaving, ...this.#places.map(place => place.stop())]);
  }

  #put(target: ConfiguredTarget, about: Pick<Origin, 'isConfigured' | 'hasKeys'>): Place {
    const place = new Place({ id: `s${++this.#opened}`, target, ...about }, this.desk);
    this.#places = [...this.#places, place];
    this.desk.onChange();
    return place;
  }

  #placeOf(id: string): Place | undefined {
    return this.#places.find(({ origin }) => origin.id === id);
  }

  /** The operation as each server describes it that has its calls go to the same endpoint. */
  #sameAs({ discovered: { toolset } }: Found, { name }: Tool): readonly Tool[] {
    return this.found
      .filter(({ discovered }) => discovered.toolset.endpoint === toolset.endpoint)
      .flatMap(({ discovered }) => discovered.toolset.tools.filter(tool => tool.name === name));
  }
}

/** An operation that one toolset marks destructive stays destructive: the server is the same. */
function strictest(tool: Tool, same: readonly Tool[]): Tool {
  const isDestructive = same.some(({ annotations }) => annotations?.destructive === true);
  return isDestructive ? { ...tool, annotations: { ...tool.annotations, destructive: true } } : tool;
}

function isSame({ target: one, isConfigured }: Origin, other: ConfiguredTarget): boolean {
  if (isConfigured || one.kind !== other.kind) return false;
  return one.kind !== 'url' || (other.kind === 'url' && one.url === other.url);
}

/** How a call was meant. */
export interface CalledAs {
  readonly target: Target | McpTarget;
  /** Of a thread that was named; a fresh one otherwise. */
  readonly groupId: string | null;
  /** Not where the arguments went out as they were. */
  readonly validates: boolean;
}

/** What is called again. */
export interface Repeatable extends CalledAs {
  readonly invocation: Pick<Invocation, 'operation' | 'arguments' | 'user_id' | 'thread_ancestors'>;
  /** Names of headers whose values are secret: they have to be filled in. */
  readonly headers: readonly string[];
}

/** A line for a shell, or why no line does the same. */
type Commanded = { readonly ok: true; readonly line: string } | { readonly ok: false; readonly why: string };

/**
 * The call as a line of this program for a POSIX shell. None where it would hold what is unseen, or could act, outside of its JSON; or
 * in that what our own reader refuses, as a number that cannot be held exactly.
 */
export function asCommand({ target, invocation, groupId, validates, headers }: Repeatable): Commanded {
  const { operation, arguments: args, user_id: user, thread_ancestors: ancestors } = invocation;
  const { words: place, options } = placeOf(target);
  const named = [...headers.map(name => ['-H', `${name}: [redacted]`]), ...options];
  if (user) named.push(['--user-id', user]);
  if (groupId !== null) named.push(['--group-id', groupId]);
  for (const ancestor of ancestors ?? []) named.push(['--ancestor', ancestor]);
  if (!validates) named.push(['--no-validate']);
  const { words: given, whole } = wordsOf(args);
  const words = [...place, operation, ...given];
  if (whole !== null) named.push(['--args', whole]);
  const line = ['protocol-cli', 'invoke', ...named.flat(), ...(words.some(isOption) ? ['--'] : []), ...words];
  const why = whyNot(operation, args, line);
  return why === null ? { ok: true, line: line.map(shellWord).join(' ') } : { ok: false, why };
}

function whyNot(operation: string, args: Invocation['arguments'], line: readonly string[]): string | null {
  if (!isOperation(operation)) return 'its operation would be read as an argument or a URL';
  const inexact = inexactness(args);
  if (inexact !== null) return `in its arguments ${inexact}`;
  return line.every(isSeen) ? null : 'it holds characters that are not seen';
}

function placeOf(target: CalledAs['target']): {
  readonly words: readonly string[];
  readonly options: string[][];
} {
  switch (target.kind) {
    case 'url':
      return { words: [target.url], options: [] };
    case 'endpoint':
      return { words: [target.url], options: [['--endpoint']] };
    case 'demo':
      return { words: [], options: [['--demo']] };
    case 'mcp': // without a URL, the servers of `.infinity/rap.json` are looked through
      return { words: [], options: [] };
    case 'command':
      return { words: [], options: [['--command', target.command]] };
  }
}

/** A word for each argument, or all at once where a key could not be one. */
function wordsOf(args: Invocation['arguments']): { readonly words: string[]; readonly whole: string | null } {
  const entries = Object.entries(args);
  if (!entries.every(([key]) => isKey(key))) return { words: [], whole: safeJson(args) };
  return { words: entries.map(([key, value]) => wordOf(key, value)), whole: null };
}

/** What a schema could make something else of is JSON, whatever the schema is. */
function wordOf(key: string, value: unknown): string {
  const isPlain =
    typeof value === 'string' && isSeen(value) && !value.startsWith('@') && !parseJson(value).ok;
  return isPlain ? `${key}=${value}` : `${key}:=${safeJson(value)}`;
}

function isKey(key: string): boolean {
  return key !== '' && !key.includes('=') && !key.endsWith(':') && isSeen(key);
}

const isOption = (word: string) => word.startsWith('-');

/** The first word after the target, and no argument. */
function isOperation(operation: string): boolean {
  return operation !== '' && !operation.includes('=') && !operation.includes('://');
}

/** What our own reader has against them; null where that is nothing. */
function inexactness(args: Invocation['arguments']): string | null {
  const reading = parseJson(safeJson(args));
  return reading.ok ? (reading.notes[0] ?? null) : reading.reason;
}

/** Nothing in it acts on a terminal, or hides there. */
function isSeen(word: string): boolean {
  return visibleLine(word) === word;
}

/** How the calls of a session are made. */
export interface Manners {
  /** Ms for the result; 0 waits for ever. */
  readonly timeoutMs: number;
  readonly retries: number;
  readonly lenientAck: boolean;
  readonly listener: ListenerOptions;
  readonly consent: Consent;
  /** The thread of all calls; null: a fresh one for each. */
  readonly groupId: string | null;
  readonly userId: string | null;
  /** Root first. */
  readonly ancestors: readonly string[];
}

interface Entry {
  /** Id of the server that it was meant for, be it denied. */
  readonly server: string;
  /** What it was sent to; null of what was denied. */
  readonly offer: Offer | null;
  /** Not where the arguments went out as they were. */
  readonly isValidated: boolean;
}

/**
 * What is known of the calls of a session besides what was seen of them, as long as the book has them: a late result may still open a
 * subscription, which can be given up.
 */
export class Ledger {
  readonly #entries = new Map<string, Entry>();

  constructor(private readonly manners: Pick<Manners, 'groupId'>) {}

  denied(key: string, server: string): void {
    this.#entries.set(key, { server, offer: null, isValidated: true });
  }

  sent(key: string, server: string, offer: Offer, isValidated: boolean): void {
    this.#entries.set(key, { server, offer, isValidated });
  }

  /** Each that was sent. */
  *offers(): Iterable<readonly [key: string, offer: Offer]> {
    for (const [key, { offer }] of this.#entries) if (offer) yield [key, offer];
  }

  /** Null of what was not sent. */
  offerOf(key: string): Offer | null {
    return this.#entries.get(key)?.offer ?? null;
  }

  /** Null of what is no call of this session. */
  serverOf(key: string): string | null {
    return this.#entries.get(key)?.server ?? null;
  }

  isUnvalidated(key: string): boolean {
    return this.#entries.get(key)?.isValidated === false;
  }

  /** Null of what was not sent. */
  calledAs(key: string): CalledAs | null {
    const entry = this.#entries.get(key);
    if (!entry?.offer) return null;
    return { target: entry.offer.target, groupId: this.manners.groupId, validates: entry.isValidated };
  }
}
