import { crc32 } from 'node:zlib';
import * as z from 'zod/mini';
import { Content } from '../../events/content.js';
import { type Event, factSchema, type Turn } from '../../events/events.js';
import { readJson } from '../../util/json.js';
import { isRecord, RecentMap } from '../../util/json-diagnosis.js';
import { DEFAULTS } from '../defaults.js';
import { CANCELLED, THREAD_CLOSED } from '../reply-waits.js';
import { typeOf, wasStopped } from '../send-callback.js';

/** The format's name and version. In this one each line ends with its checksum. */
export const JOURNAL_FORMAT = 'protocol-cli-journal/2';
/** The version without checksums. It can be read; opening it rewrites it. Any other format is refused. */
const UNCHECKED_FORMAT = 'protocol-cli-journal/1';

const bodyRefSchema = z.object({ sha256: z.string(), size: z.int().check(z.nonnegative()) });

const frames = [
  z.object({
    kind: z.literal('header'),
    format: z.enum([JOURNAL_FORMAT, UNCHECKED_FORMAT]),
    /** RFC 3339, UTC. */
    startedAt: z.string(),
    program: z.string(),
  }),
  /** Bytes, just before the event that carries them for the first time. */
  z.object({
    kind: z.literal('body'),
    sha256: z.string(),
    encoding: z.enum(['utf8', 'base64']),
    data: z.string(),
  }),
  /** A call of an earlier run that is over. */
  z.object({ kind: z.literal('settled'), groupId: z.string(), id: z.string(), sha256: z.string() }),
  /** Counts and states begin anew: those of one key, or all of them and the calls that are over. */
  z.object({ kind: z.literal('reset'), key: z.optional(z.string()) }),
  /** What is above is what earlier runs left; a run begins. */
  z.object({ kind: z.literal('begun') }),
] as const;

/**
 * One line of a journal (NDJSON): a frame or an event. Nothing is redacted: it holds callback URLs and tokens, since they are needed to
 * go on after a crash, and is its owner's alone (threats, rows 25 and 26).
 */
export const journalLineSchema = z.discriminatedUnion('kind', [...frames, factSchema(bodyRefSchema)]);

export type JournalLine = z.infer<typeof journalLineSchema>;

/** The last member of a line, with the brace that closes it. The checksum is of the bytes before the comma. */
const CHECKSUM = /,"crc32":"([\da-f]{8})"\}$/;
const CHECKSUM_BYTES = ',"crc32":"00000000"}'.length;

/** A line of a journal, with its checksum and a line feed. */
export function checkedLine(content: JournalLine): string {
  const start = JSON.stringify(content).slice(0, -1);
  return `${start},"crc32":"${checksum(start)}"}\n`;
}

/** Whether a line ends with a checksum, and that is right. */
export function isIntact(line: Uint8Array): boolean {
  const end = line.length - CHECKSUM_BYTES;
  const [, written] = CHECKSUM.exec(Buffer.from(line.subarray(Math.max(0, end))).toString('latin1')) ?? [];
  return end > 0 && written === checksum(line.subarray(0, end));
}

function checksum(data: string | Uint8Array): string {
  return crc32(data).toString(16).padStart(8, '0');
}

type Matched = Extract<Event, { kind: 'matched' }>;

/** A callback as it was posted: a repeat must be these bytes again. */
export interface Rendered {
  readonly url: string;
  readonly body: Content;
  readonly contentType: string;
  readonly turn: Turn;
  /** `waiting`: posted at least once, delivery not confirmed. */
  readonly state: 'waiting' | 'delivered' | 'dropped';
}

/** A call that was received, and neither refused nor settled when the last run ended. */
export interface Recovered {
  readonly key: string;
  readonly thread: string;
  readonly invocation: Content;
  readonly headers: Readonly<Record<string, string>>;
  /** What was going to answer it; null where no fixture was asked yet. */
  readonly matched: Matched | null;
  /** Where none answers it: why, as its result says. */
  readonly refusal: string | null;
  /** In the order in which they were first posted. */
  readonly rendered: readonly Rendered[];
  /** Of the last message that was said, or dropped on purpose; null where there was none. */
  readonly turn: Turn | null;
  /** Whether its result is one of those. */
  readonly isAnswered: boolean;
  /** Why it was called off; null while it goes on. */
  readonly cancelReason: string | null;
}

/** A call that is over: the same invocation again is acknowledged and not carried out. */
interface Settled {
  readonly groupId: string;
  readonly id: string;
  /** Of the invocation's bytes. */
  readonly sha256: string;
}

/** What a journal says of the runs before this one. */
export interface Recovery {
  /** In the order in which they were received. */
  readonly calls: readonly Recovered[];
  /** Given to `FixtureState.restore` in this order, they bring back counts and states. */
  readonly matched: readonly Matched[];
  /** The last 100,000 at least, oldest first. */
  readonly settled: readonly Settled[];
  /** Length of a last line that was cut off, of which nothing was acknowledged; it is gone. */
  readonly tornBytes: number;
  /** Lines with a wrong checksum or invalid content. They were removed. */
  readonly damaged: readonly DamagedLine[];
}

export interface DamagedLine {
  /** From 1. */
  readonly number: number;
  /** Such as `212 bytes, kind "body", operation "edit", id "c1"`. */
  readonly held: string;
}

const REMEMBERED_KEYS = 100_000;

/** The facts that counts and states of fixtures follow from: the latest of each fixture and key, and of each state. */
class Counters {
  readonly #counts = new RecentMap<string, Map<string | null, Matched>>(REMEMBERED_KEYS);
  readonly #states = new RecentMap<string, Matched>(REMEMBERED_KEYS);
  /** In which order they came: a file of two runs has the same `seq` twice. */
  readonly #order = new WeakMap<Matched, number>();
  #next = 0;

  take(matched: Matched): void {
    const { fixture, key, state } = matched;
    this.#order.set(matched, this.#next++);
    if (state) this.#states.set(state.key, matched);
    if (key === undefined) return;
    const counts = this.#counts.get(key) ?? new Map<string | null, Matched>();
    counts.set(fixture, matched);
    this.#counts.set(key, counts);
  }

  reset(key: string): void {
    this.#counts.delete(key);
    this.#states.delete(key);
  }

  clear(): void {
    this.#counts.clear();
    this.#states.clear();
  }

  /** In the order in which they came. */
  facts(): Matched[] {
    const counts = [...this.#counts.values()].flatMap(of => [...of.values()]);
    const facts = [...new Set([...counts, ...this.#states.values()])];
    return facts.sort((a, b) => (this.#order.get(a) ?? 0) - (this.#order.get(b) ?? 0));
  }
}

/** These leave a call pending (the protocol, section 2); whatever else is sent was meant to end it, unreadable or not. */
const LEAVES_PENDING = new Set<string | undefined>([
  'oauth',
  'user_choice',
  'subscription_event',
  'view_update',
]);

export function isLast(type: string | undefined): boolean {
  return !LEAVES_PENDING.has(type);
}

/** The only message of a call. */
const ONLY: Turn = { index: 0 };

interface Posting extends Rendered {
  state: Rendered['state'];
  /** Undefined if the message is unreadable. */
  readonly type: string | undefined;
  /** Of its latest attempt; null where that was in an earlier run. */
  leg: string | null;
}

/** What one request event says of a callback. */
interface Posted {
  readonly url: string;
  readonly contentType: string;
  readonly leg: string;
  readonly attempt: number;
  readonly sha256: string;
  readonly turn: Turn | undefined;
  /** Where the journal carries the bytes just before the event. */
  readonly body: Content | null;
}

/** A message, posted or not. */
interface Message {
  readonly turn?: Turn | undefined;
  readonly type?: string | undefined;
}

/** A call while a journal is read. */
class OpenCall implements Recovered {
  matched: Matched | null = null;
  refusal: string | null = null;
  turn: Turn | null = null;
  isAnswered = false;
  cancelReason: string | null = null;
  readonly rendered: Posting[] = [];
  #warning: string | null = null;
  /** The message that is to be posted twice. */
  #doubled: number | null = null;

  constructor(
    readonly key: string,
    readonly thread: string,
    readonly invocation: Content,
    readonly headers: Readonly<Record<string, string>>,
    /** Of its invocation. */
    readonly leg: string,
  ) {}

  /** Nothing is on its way, and nothing is to come: its reply is at its end, or was called off after its result. */
  get isOver(): boolean {
    const isAtEnd = this.turn?.next === undefined || this.cancelReason !== null;
    return this.isAnswered && isAtEnd && !this.#copyIsDue() && this.rendered.every(isThrough);
  }

  warned(message: string): void {
    this.#warning = message;
  }

  /** The warning before says why the call was refused. */
  isMatched(matched: Matched): void {
    this.matched = matched;
    this.refusal = matched.fixture === null ? this.#warning : null;
  }

  posted({ url, contentType, leg, attempt, sha256, body, turn = ONLY }: Posted): void {
    const known = this.rendered.find(
      one =>
        one.state === 'waiting' &&
        one.url === url &&
        one.body.sha256 === sha256 &&
        (attempt > 1 || one.leg === null),
    );
    const bytes = body ?? this.rendered.find(one => one.body.sha256 === sha256)?.body;
    if (known) known.leg = leg;
    else if (bytes) {
      const type = typeOf(bytes);
      this.rendered.push({ url, body: bytes, contentType, turn, state: 'waiting', type, leg });
      this.said({ turn, type });
    }
  }

  /** It was posted, or never will be. */
  said({ turn = ONLY, type }: Message): void {
    this.turn = turn;
    this.isAnswered ||= isLast(type);
  }

  isDoubled({ turn = ONLY }: Message): void {
    this.#doubled = turn.index;
  }

  /** No event is owed any more (TOOL-SUB). The first reason counts. */
  cancel(reason: string): void {
    this.cancelReason ??= reason;
    for (const one of this.rendered)
      if (one.type === 'subscription_event' && one.state === 'waiting') one.state = 'dropped';
  }

  postingOf(leg: string | undefined): Posting | undefined {
    return leg === undefined ? undefined : this.rendered.find(one => one.leg === leg);
  }

  /** What is posted from now on may be the same callback again. */
  nextRun(): void {
    this.complete();
    for (const one of this.rendered) one.leg = null;
  }

  /** A second copy that was never posted is on its way all the same. */
  complete(): void {
    const last = this.rendered.at(-1);
    if (last && this.#copyIsDue()) this.rendered.push({ ...last, state: 'waiting', leg: null });
    this.#doubled = null;
  }

  #copyIsDue(): boolean {
    const copies = this.rendered.filter(({ turn }) => turn.index === this.#doubled);
    return copies.length === 1 && this.cancelReason === null;
  }
}

function isThrough({ state }: Posting): boolean {
  return state !== 'waiting';
}

type Line<K extends JournalLine['kind']> = Extract<JournalLine, { kind: K }>;

/** Reads a journal line by line into what is left to do. Its memory grows with the calls that are open, not with the file. */
export class Fold {
  readonly #open = new Map<string, OpenCall>();
  readonly #settled = new RecentMap<string, Settled>(DEFAULTS.journalCalls);
  readonly #counters = new Counters();
  #body: Content | null = null;

  recovery(tornBytes: number, damaged: readonly DamagedLine[]): Recovery {
    const calls = [...this.#open.values()];
    for (const call of calls) call.complete();
    const settled = [...this.#settled.values()];
    return { calls, matched: this.#counters.facts(), settled, tornBytes, damaged };
  }

  take(line: JournalLine): void {
    switch (line.kind) {
      case 'body':
        this.#body = new Content(Buffer.from(line.data, line.encoding));
        break;
      case 'settled':
        this.#remember(line);
        break;
      case 'reset':
        this.#reset(line.key);
        break;
      case 'begun':
        for (const call of this.#open.values()) call.nextRun();
        break;
      case 'matched':
        this.#counters.take(line);
        this.#each(line, call => call.isMatched(line));
        break;
      case 'warned':
        this.#each(line, call => call.warned(line.message));
        break;
      case 'decided':
        if (line.what === 'cancel') this.#each(line, call => this.#cancel(call, String(line.value)));
        break;
      case 'request':
        this.#request(line);
        break;
      case 'response':
        this.#each(line, call => this.#response(call, line));
        break;
      case 'dropped':
        this.#each(line, call => this.#dropped(call, line));
        break;
      case 'planned':
        this.#each(line, call => this.#planned(call, line));
        break;
      default:
    }
  }

  #each({ calls = [] }: { readonly calls?: string[] | undefined }, act: (call: OpenCall) => void): void {
    for (const key of calls) {
      const call = this.#open.get(key);
      if (call) act(call);
    }
  }

  #request(line: Line<'request'>): void {
    const { purpose, url, leg, attempt, headers, body, turn, thread } = line;
    const bytes = this.#bytesOf(body?.sha256);
    if (purpose === 'invocation') this.#invocation(line, bytes);
    if (purpose === 'cancel') this.#each(line, call => this.#cancel(call, CANCELLED));
    if ((purpose === 'close' || purpose === 'migrate') && thread !== undefined) this.#closeThread(thread);
    if (purpose !== 'callback' || !body) return;
    const { sha256 } = body;
    const contentType = headers['content-type'] ?? '';
    this.#each(line, call => call.posted({ url, contentType, leg, attempt, sha256, turn, body: bytes }));
  }

  /** The line before carries them, or they were carried before. */
  #bytesOf(sha256: string | undefined): Content | null {
    const body = this.#body;
    this.#body = null;
    return body && body.sha256 === sha256 ? body : null;
  }

  /** A repeat of a call that is over, or is open, begins nothing. */
  #invocation({ calls: [key] = [], thread = '', headers, leg }: Line<'request'>, body: Content | null): void {
    if (key === undefined || !body || this.#open.has(key)) return;
    if (this.#settled.get(identityOf(settledAs(thread, body)))) return;
    this.#open.set(key, new OpenCall(key, thread, body, headers, leg));
  }

  #response(call: OpenCall, { leg, status }: Line<'response'>): void {
    if (call.leg === leg && status !== 200) this.#open.delete(call.key); // refused: its runtime sends it again, or never
    const posting = call.postingOf(leg);
    if (!posting || status >= 300) return;
    posting.state = 'delivered';
    this.#settleWhenOver(call);
  }

  #dropped(call: OpenCall, { what, why, leg, ...message }: Line<'dropped'>): void {
    if (wasStopped(why) || what === 'event') return;
    const posting = call.postingOf(leg);
    if (posting) posting.state = 'dropped';
    else call.said(message);
    if (what === 'invocation') this.#settle(call);
    else this.#settleWhenOver(call);
  }

  /** What is planned may mean that nothing comes, or the same twice. */
  #planned(call: OpenCall, { plan, ...message }: Line<'planned'>): void {
    if (plan === 'silence') this.#settle(call);
    if (plan === 'duplicate') call.isDoubled(message);
    if (plan !== 'drop') return;
    call.said(message);
    this.#settleWhenOver(call);
  }

  #cancel(call: OpenCall, reason: string): void {
    call.cancel(reason);
    this.#settleWhenOver(call);
  }

  #closeThread(thread: string): void {
    this.#counters.reset(thread);
    for (const call of [...this.#open.values()])
      if (call.thread === thread) this.#cancel(call, THREAD_CLOSED);
  }

  #settleWhenOver(call: OpenCall): void {
    if (call.isOver) this.#settle(call);
  }

  #settle(call: OpenCall): void {
    this.#open.delete(call.key);
    this.#remember(settledAs(call.thread, call.invocation));
  }

  #remember({ groupId, id, sha256 }: Settled): void {
    const settled = { groupId, id, sha256 };
    this.#settled.set(identityOf(settled), settled);
  }

  #reset(key: string | undefined): void {
    if (key !== undefined) this.#counters.reset(key);
    else {
      this.#counters.clear();
      this.#settled.clear();
    }
  }
}

/** A malformed invocation may have no id; it is recognised by its bytes all the same. */
function settledAs(groupId: string, { bytes, sha256 }: Content): Settled {
  const json = readJson(bytes);
  const id = json.ok && isRecord(json.value) ? json.value['id'] : undefined;
  return { groupId, id: typeof id === 'string' ? id : '', sha256 };
}

function identityOf({ groupId, id, sha256 }: Settled): string {
  return JSON.stringify([groupId, id, sha256]);
}
