import { crc32 } from 'node:zlib';
import * as z from 'zod/mini';
import { Content } from '../../events/content.js';
import { type Event, factSchema, type Turn } from '../../events/events.js';
import { endsCall } from '../../protocol/callbacks.js';
import { validate } from '../../protocol/validate.js';
import { RecentMap } from '../../util/collections.js';
import { ProtocolCliError } from '../../util/errors.js';
import { readJson } from '../../util/json.js';
import { excerpt } from '../../util/text.js';
import { isRecord } from '../../util/values.js';
import { DEFAULTS } from '../defaults.js';
import { typeOf, wasStopped } from '../outbox.js';
import { CANCELLED, THREAD_CLOSED } from '../waits.js';

/** The format's name and version. In this one each line ends with its checksum. */
export const JOURNAL_FORMAT = 'protocol-cli-journal/2';

/** The version without checksums. It can be read; opening it rewrites it. Any other format is refused. */
const UNCHECKED_FORMAT = 'protocol-cli-journal/1';

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
  /** The lines above are what earlier runs left; a run begins. */
  z.object({ kind: z.literal('begun') }),
] as const;

const bodyRefSchema = z.object({ sha256: z.string(), size: z.int().check(z.nonnegative()) });

/**
 * One line of a journal (NDJSON): a frame or an event. Nothing is redacted: callback URLs and tokens are needed to go on after a
 * crash. The file is its owner's alone (threats, rows 25 and 26).
 */
const journalLineSchema = z.discriminatedUnion('kind', [...frames, factSchema(bodyRefSchema)]);

type JournalLine = z.infer<typeof journalLineSchema>;

type Line<K extends JournalLine['kind']> = Extract<JournalLine, { kind: K }>;

/** The last member of a line, with the brace that closes it. The checksum is of the bytes before the comma. */
const CHECKSUM = /,"crc32":"([\da-f]{8})"\}$/;

const CHECKSUM_BYTES = ',"crc32":"00000000"}'.length;

/** A line of a journal, with its checksum and a line feed. */
export function checkedLine(content: JournalLine): string {
  const start = JSON.stringify(content).slice(0, -1);
  return `${start},"crc32":"${checksum(start)}"}\n`;
}

function isIntact(line: Uint8Array): boolean {
  const end = line.length - CHECKSUM_BYTES;
  const [, written] = CHECKSUM.exec(Buffer.from(line.subarray(Math.max(0, end))).toString('latin1')) ?? [];
  return end > 0 && written === checksum(line.subarray(0, end));
}

function checksum(data: string | Uint8Array): string {
  return crc32(data).toString(16).padStart(8, '0');
}

type Matched = Line<'matched'> & Extract<Event, { kind: 'matched' }>;

/** A callback as it was posted: a repeat must be these bytes again. */
interface Rendered {
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
  /** What was going to answer it; null if that was not decided yet. */
  readonly matched: Matched | null;
  /** If nothing answers it: the message of its result. */
  readonly refusal: string | null;
  /** In the order in which they were first posted. */
  readonly rendered: readonly Rendered[];
  /** Of the last message that was posted, or dropped on purpose; null without one. */
  readonly turn: Turn | null;
  /** Whether its result is one of those. */
  readonly isAnswered: boolean;
  /** Why it was canceled; null while it goes on. */
  readonly cancelReason: string | null;
}

/** A call that is over: the same invocation again is acknowledged and not carried out. */
interface Settled {
  readonly groupId: string;
  readonly id: string;
  /** Of the invocation's bytes. */
  readonly sha256: string;
}

/** What a journal contains of earlier runs. */
export interface Recovery {
  /** In the order in which they were received. */
  readonly calls: readonly Recovered[];
  /** Given to `FixtureState.restore` in this order, they bring back counts and states. */
  readonly matched: readonly Matched[];
  /** The last 100,000 at least, oldest first. */
  readonly settled: readonly Settled[];
  /** Length of a last line that was cut off, of which nothing was acknowledged. */
  readonly tornBytes: number;
  /** Lines with a wrong checksum or invalid content. They were skipped. */
  readonly damaged: readonly DamagedLine[];
}

interface DamagedLine {
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

  reset(key?: string): void {
    if (key === undefined) {
      this.#counts.clear();
      this.#states.clear();
    } else {
      this.#counts.delete(key);
      this.#states.delete(key);
    }
  }

  /** In the order in which they came. */
  facts(): Matched[] {
    const counts = [...this.#counts.values()].flatMap(of => [...of.values()]);
    const facts = [...new Set([...counts, ...this.#states.values()])];
    return facts.sort((a, b) => (this.#order.get(a) ?? 0) - (this.#order.get(b) ?? 0));
  }
}

interface Posting extends Rendered {
  state: Rendered['state'];
  /** Undefined if the message is unreadable. */
  readonly type: string | undefined;
  /** Request id of its latest attempt; null if that was in an earlier run. */
  leg: string | null;
}

/** A message, posted or not. */
interface Message {
  readonly turn?: Turn | undefined;
  readonly type?: string | undefined;
}

/** The only message of a call. */
const ONLY: Turn = { index: 0 };

/** A call while a journal is read. */
class OpenCall implements Recovered {
  matched: Matched | null = null;
  refusal: string | null = null;
  turn: Turn | null = null;
  isAnswered = false;
  cancelReason: string | null = null;
  readonly rendered: Posting[] = [];
  /** Its last warning: the reason if the call is refused. */
  warning: string | null = null;

  constructor(
    readonly key: string,
    readonly thread: string,
    readonly invocation: Content,
    readonly headers: Readonly<Record<string, string>>,
    /** Request id of its invocation. */
    readonly leg: string,
  ) {}

  /** Nothing is under way, and nothing is to come: its reply is at its end, or was canceled after its result. */
  get isOver(): boolean {
    const isAtEnd = this.turn?.next === undefined || this.cancelReason !== null;
    const isThrough = this.rendered.every(({ state }) => state !== 'waiting');
    return this.isAnswered && isAtEnd && isThrough;
  }

  /** @param bytes if the journal has them just before the event */
  posted({ url, leg, attempt, headers, body, turn = ONLY }: Line<'request'>, bytes: Content | null): void {
    const isSame = (one: Posting) => one.body.sha256 === body?.sha256;
    const known = this.rendered.find(
      one => isSame(one) && one.state === 'waiting' && one.url === url && (attempt > 1 || one.leg === null),
    );
    const content = bytes ?? this.rendered.find(isSame)?.body;
    if (known) known.leg = leg;
    else if (content) {
      const type = typeOf(content);
      const contentType = headers['content-type'] ?? '';
      this.rendered.push({ url, body: content, contentType, turn, state: 'waiting', type, leg });
      this.passed({ turn, type });
    }
  }

  /** The message was posted, or never will be. */
  passed({ turn = ONLY, type }: Message): void {
    this.turn = turn;
    this.isAnswered ||= endsCall(type);
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
    for (const one of this.rendered) one.leg = null;
  }
}

/** Reads a journal line by line into what is left to do. Its memory grows with the calls that are open, not with the file. */
export class JournalReader {
  readonly #open = new Map<string, OpenCall>();
  readonly #settled = new RecentMap<string, Settled>(DEFAULTS.journalCalls);
  readonly #counters = new Counters();
  readonly #damaged: DamagedLine[] = [];
  #body: Content | null = null;
  #isChecked = true;
  #lines = 0;

  constructor(private readonly path: string) {}

  /** For messages: the place of the last line that was taken. */
  get place(): string {
    return `${this.path}:${this.#lines}`;
  }

  /** @param tornBytes of an incomplete last line @throws ProtocolCliError `unreadable-file` without a header */
  recovery(tornBytes: number): Recovery {
    if (this.#lines === 0 && tornBytes > 0) throw unreadableJournal(this.path, NO_HEADER);
    const calls = [...this.#open.values()];
    const settled = [...this.#settled.values()];
    return { calls, matched: this.#counters.facts(), settled, tornBytes, damaged: this.#damaged };
  }

  /** Takes a line without its line feed. @throws ProtocolCliError `unreadable-file` if the file is not a journal */
  take(bytes: Uint8Array): void {
    this.#lines++;
    const json = readJson(bytes);
    const line = json.ok
      ? validate(journalLineSchema, json.value)
      : ({ ok: false, faults: [json.reason] } as const);
    if (this.#lines === 1) {
      if (!line.ok) throw unreadableJournal(this.place, line.faults.join('; '));
      if (line.value.kind !== 'header') throw unreadableJournal(this.place, NO_HEADER);
      this.#isChecked = line.value.format === JOURNAL_FORMAT;
    }
    if (!line.ok || (this.#isChecked && !isIntact(bytes)))
      this.#damaged.push({ number: this.#lines, held: describeDamaged(bytes) });
    else if (this.#lines > 1 && line.value.kind === 'header')
      throw unreadableJournal(this.place, 'unexpected second header');
    else this.#apply(line.value);
  }

  #apply(line: JournalLine): void {
    switch (line.kind) {
      case 'body':
        this.#body = new Content(Buffer.from(line.data, line.encoding));
        break;
      case 'settled':
        this.#remember(line);
        break;
      case 'reset':
        this.#counters.reset(line.key);
        if (line.key === undefined) this.#settled.clear();
        break;
      case 'begun':
        for (const call of this.#open.values()) call.nextRun();
        break;
      case 'matched':
        this.#counters.take(line);
        for (const call of this.#callsOf(line)) {
          call.matched = line;
          call.refusal = line.fixture === null ? call.warning : null;
        }
        break;
      case 'request':
        this.#request(line);
        break;
      default:
        for (const call of this.#callsOf(line)) this.#applyTo(call, line);
    }
  }

  #applyTo(call: OpenCall, line: JournalLine): void {
    if (line.kind === 'warned') call.warning = line.message;
    if (line.kind === 'decided' && line.what === 'cancel') this.#cancel(call, String(line.value));
    if (line.kind === 'response') this.#response(call, line);
    if (line.kind === 'dropped') this.#dropped(call, line);
    if (line.kind === 'planned') this.#planned(call, line);
  }

  #callsOf(line: JournalLine): OpenCall[] {
    const keys = 'calls' in line ? (line.calls ?? []) : [];
    return keys.flatMap(key => this.#open.get(key) ?? []);
  }

  #request(line: Line<'request'>): void {
    const { purpose, thread, body } = line;
    const carried = this.#body;
    this.#body = null;
    const bytes = carried?.sha256 === body?.sha256 ? carried : null; // else they were carried before
    if (purpose === 'invocation') this.#invocation(line, bytes);
    if (purpose === 'cancel') for (const call of this.#callsOf(line)) this.#cancel(call, CANCELLED);
    if ((purpose === 'close' || purpose === 'migrate') && thread !== undefined) this.#closeThread(thread);
    if (purpose === 'callback' && body) for (const call of this.#callsOf(line)) call.posted(line, bytes);
  }

  /** A repeat of a call that is over, or is open, begins nothing. */
  #invocation({ calls: [key] = [], thread = '', headers, leg }: Line<'request'>, body: Content | null): void {
    if (key === undefined || !body || this.#open.has(key)) return;
    if (this.#settled.get(identityOf(settledCall(thread, body)))) return;
    this.#open.set(key, new OpenCall(key, thread, body, headers, leg));
  }

  #response(call: OpenCall, { leg, status }: Line<'response'>): void {
    if (call.leg === leg && status !== 200) this.#open.delete(call.key); // refused: its runtime sends it again, or never
    const posting = call.postingOf(leg);
    if (!posting || status >= 300) return;
    posting.state = 'delivered';
    this.#settleIfOver(call);
  }

  #dropped(call: OpenCall, { what, why, leg, ...message }: Line<'dropped'>): void {
    if (wasStopped(why) || what === 'event') return;
    const posting = call.postingOf(leg);
    if (posting) posting.state = 'dropped';
    else call.passed(message);
    if (what === 'invocation') this.#settle(call);
    else this.#settleIfOver(call);
  }

  /** A fault may mean that no message comes. */
  #planned(call: OpenCall, { plan, ...message }: Line<'planned'>): void {
    if (plan === 'silence') this.#settle(call);
    if (plan !== 'drop') return;
    call.passed(message);
    this.#settleIfOver(call);
  }

  #cancel(call: OpenCall, reason: string): void {
    call.cancel(reason);
    this.#settleIfOver(call);
  }

  #closeThread(thread: string): void {
    this.#counters.reset(thread);
    for (const call of [...this.#open.values()])
      if (call.thread === thread) this.#cancel(call, THREAD_CLOSED);
  }

  #settleIfOver(call: OpenCall): void {
    if (call.isOver) this.#settle(call);
  }

  #settle(call: OpenCall): void {
    this.#open.delete(call.key);
    this.#remember(settledCall(call.thread, call.invocation));
  }

  #remember({ groupId, id, sha256 }: Settled): void {
    this.#settled.set(identityOf({ groupId, id, sha256 }), { groupId, id, sha256 });
  }
}

/** A malformed invocation may have no id; it is recognised by its bytes all the same. */
function settledCall(groupId: string, { bytes, sha256 }: Content): Settled {
  const json = readJson(bytes);
  const id = json.ok && isRecord(json.value) ? json.value['id'] : undefined;
  return { groupId, id: typeof id === 'string' ? id : '', sha256 };
}

function identityOf({ groupId, id, sha256 }: Settled): string {
  return JSON.stringify([groupId, id, sha256]);
}

const NO_HEADER = 'the first line is not the header of a journal';

export function unreadableJournal(place: string, problem: string): ProtocolCliError {
  return new ProtocolCliError('unreadable-file', `${place}: cannot read this journal: ${problem}`, {
    hint: 'Move the file away to begin a new journal, or give another path.',
  });
}

/** Enough for the members by which a line is described. */
const DESCRIBED_BYTES = 64 * 1024;

/** Members of a line, or of the message in it, where quotes are escaped. Nothing else is quoted: a journal holds secrets. */
const DESCRIBED = ['kind', 'purpose', 'type', 'operation', 'group_id', 'id'] as const;

/** The content of a damaged line, as far as it can be read. */
function describeDamaged(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.subarray(0, DESCRIBED_BYTES)).toString('utf8');
  const found = DESCRIBED.flatMap(name => {
    const [, value] = new RegExp(`\\\\?"${name}\\\\?"\\s*:\\s*\\\\?"([^"\\\\]{1,80})`).exec(text) ?? [];
    return value === undefined ? [] : [`, ${name} ${excerpt(value)}`];
  });
  return `${bytes.length} bytes${found.join('')}`;
}
