import { isUtf8 } from 'node:buffer';
import { crc32 } from 'node:zlib';
import * as z from 'zod/mini';
import { Content } from '../../events/content.js';
import { type Event, factSchema, type Turn } from '../../events/events.js';
import { effectOf } from '../../events/faults.js';
import { endsCall } from '../../protocol/callbacks.js';
import { validate } from '../../protocol/validate.js';
import { RecentMap } from '../../util/collections.js';
import { ProtocolCliError } from '../../util/errors.js';
import { readJson } from '../../util/json.js';
import { excerpt } from '../../util/text.js';
import { isRecord } from '../../util/values.js';
import { CANCELED, THREAD_CLOSED } from '../conversation.js';
import { isStopReason } from '../outbox.js';
import { DEFAULTS } from '../tool.js';

/** Name and version of the format; each line ends with a checksum. */
const FORMAT = 'protocol-cli-journal/2';

/** The version without checksums, which is rewritten when it is opened. Other formats are refused. */
const UNCHECKED_FORMAT = 'protocol-cli-journal/1';

const frames = [
  z.object({
    kind: z.literal('header'),
    format: z.enum([FORMAT, UNCHECKED_FORMAT]),
    /** RFC 3339, UTC. */
    startedAt: z.string(),
    program: z.string(),
  }),
  /** A body, written just before the first event that contains it. */
  z.object({
    kind: z.literal('body'),
    sha256: z.string(),
    encoding: z.enum(['utf8', 'base64']),
    data: z.string(),
  }),
  /** A finished call of an earlier run: a repeat is acknowledged and not executed. */
  z.object({ kind: z.literal('settled'), groupId: z.string(), id: z.string(), sha256: z.string() }),
  z.object({ kind: z.literal('reset'), key: z.optional(z.string()) }),
  /** The start of a run; the lines above are from earlier runs. */
  z.object({ kind: z.literal('begun') }),
] as const;

const bodyRefSchema = z.object({ sha256: z.string(), size: z.int().check(z.nonnegative()) });

/**
 * One line of a journal (NDJSON): a frame or an event. Nothing is redacted: callback URLs and tokens are needed to continue after a
 * crash. Only the owner can read the file (threats, rows 25 and 26).
 */
const journalLineSchema = z.discriminatedUnion('kind', [...frames, factSchema(bodyRefSchema)]);

type JournalLine = z.infer<typeof journalLineSchema>;

type Line<K extends JournalLine['kind']> = Extract<JournalLine, { kind: K }>;

/** The last member of a line, with the closing brace. The checksum covers the bytes before the comma. */
const CHECKSUM = /,"crc32":"([\da-f]{8})"\}$/;

const CHECKSUM_BYTES = ',"crc32":"00000000"}'.length;

/** Formats a line with its checksum and a line feed. */
function checkedLine(content: JournalLine): string {
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

/** Formats the lines of a journal. Writes each body once, and later only its digest. */
export class JournalLines {
  readonly #written = new WeakSet<Content>();

  /**
   * Returns the first lines of a rewritten journal: the state of earlier runs without finished calls. Reading them gives the same
   * state.
   */
  *rewritten(
    { calls, matched, settled }: Pick<Recovery, 'calls' | 'matched' | 'settled'>,
    { startedAt, program }: Pick<Line<'header'>, 'startedAt' | 'program'>,
  ): Generator<string> {
    yield checkedLine({ kind: 'header', format: FORMAT, startedAt, program });
    for (const one of settled) yield checkedLine({ kind: 'settled', ...one });
    for (const call of calls) for (const event of call.events()) yield this.event(event);
    for (const fact of matched) yield checkedLine(fact); // after the calls, because their order is that of the states
    yield checkedLine({ kind: 'begun' });
  }

  event(event: Event): string {
    if (!('body' in event) || event.body === undefined) return checkedLine(event);
    const { sha256, size } = event.body;
    return this.#bodyOnce(event.body) + checkedLine({ ...event, body: { sha256, size } });
  }

  reset(key?: string): string {
    return checkedLine({ kind: 'reset', ...(key !== undefined && { key }) });
  }

  #bodyOnce(body: Content): string {
    if (this.#written.has(body)) return '';
    this.#written.add(body);
    const { buffer, byteOffset, length } = body.bytes;
    const encoding = isUtf8(body.bytes) ? 'utf8' : 'base64';
    const data = Buffer.from(buffer, byteOffset, length).toString(encoding);
    return checkedLine({ kind: 'body', sha256: body.sha256, encoding, data });
  }
}

type Matched = Extract<Event, { kind: 'matched' }>;

type Settled = Omit<Line<'settled'>, 'kind'>;

/** A callback with the exact bytes that were posted: a retry must send the same bytes. */
interface Posting {
  readonly url: string;
  readonly body: Content;
  readonly contentType: string;
  readonly turn: Turn;
  /** Undefined if the message is unreadable. */
  readonly type: string | undefined;
  /** `waiting`: posted at least once, delivery not confirmed. */
  state: 'waiting' | 'delivered' | 'dropped';
  leg: string;
  /** Request id that earlier runs used. */
  readonly name: string;
}

/** The state of earlier runs in a journal. */
export interface Recovery {
  /** Open calls, in the order in which they were received. */
  readonly calls: readonly RecoveredCall[];
  /** Events that restore counts and states, in order. */
  readonly matched: readonly Matched[];
  /** At least the last 100,000 finished calls, oldest first. */
  readonly settled: readonly Settled[];
  readonly incompleteBytes: number;
  /** Skipped lines, with a wrong checksum or invalid content. */
  readonly damaged: readonly {
    readonly number: number;
    /** Description, such as `212 bytes, kind "body", operation "edit", id "c1"`. */
    readonly held: string;
  }[];
}

const REMEMBERED_KEYS = 100_000;

/** The latest `matched` event of each fixture and key, and of each state. */
class Counters {
  /** By key, then by fixture; `null` is the entry of a state. */
  readonly #facts = new RecentMap<
    string,
    Map<string | null, { readonly nth: number; readonly fact: Matched }>
  >(REMEMBERED_KEYS);
  #count = 0;

  take(fact: Matched): void {
    const entry = { nth: this.#count++, fact };
    const add = (key: string, of: string | null) =>
      this.#facts.set(key, (this.#facts.get(key) ?? new Map()).set(of, entry));
    if (fact.state) add(fact.state.key, null);
    if (fact.key !== undefined) add(fact.key, fact.fixture ?? '');
  }

  reset(key?: string): void {
    if (key === undefined) this.#facts.clear();
    else this.#facts.delete(key);
  }

  facts(): Matched[] {
    const entries = new Set([...this.#facts.values()].flatMap(of => [...of.values()]));
    return [...entries].sort((a, b) => a.nth - b.nth).map(({ fact }) => fact);
  }
}

/** Key of the only message of a call. */
const ONLY: Turn = { index: 0 };

type CallStatus = 'open' | 'settled' | 'refused';

/** A received call; open if it was neither refused nor settled when the last run ended. */
class RecoveredCall {
  readonly key: string;
  readonly thread: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The planned answer; null if the call was not planned yet. */
  matched: Matched | null = null;
  /** Message of the error result if nothing answers the call. */
  refusal: string | null = null;
  /** Position of the last message that was posted, or dropped on purpose; null without one. */
  turn: Turn | null = null;
  /** Whether the result was posted, or dropped on purpose. */
  isAnswered = false;
  cancelReason: string | null = null;
  /** In the order in which they were first posted. */
  readonly rendered: Posting[] = [];
  /** The last warning: the reason if the call is refused. */
  #warned: Line<'warned'> | null = null;
  /** Events with a request id of their own, and the events that follow from them, by request id. */
  readonly #kept = new Map<string, Event[]>();
  readonly #leg: string;

  constructor(
    key: string,
    request: Line<'request'>,
    readonly invocation: Content,
  ) {
    this.key = key;
    this.thread = request.thread ?? '';
    this.headers = request.headers;
    this.#leg = request.leg;
    this.#kept.set('received', [eventOf(request, invocation)]);
  }

  *events(): Generator<Event> {
    const named = [...this.#kept].map(([leg, events]) =>
      events.map(event => ('leg' in event ? { ...event, leg } : event)),
    );
    for (const [first] of named) if (first) yield first;
    for (const [, ...further] of named) yield* further; // only after all are known, because one alone may end its call
  }

  /** @param body of a request, if the journal contains it just before the line */
  apply(line: JournalLine, body: Content | null): CallStatus {
    switch (line.kind) {
      case 'warned':
        this.#warned = line;
        break;
      case 'matched':
        this.#match(line);
        break;
      case 'decided':
        if (line.what === 'cancel') this.cancel(String(line.value));
        break;
      case 'request':
        this.#posted(line, body);
        break;
      case 'response':
        if (line.leg === this.#leg && line.status !== 200) return 'refused'; // its runtime sends it again, or never
        if (line.status < 300) this.#ended(line, 'delivered');
        break;
      case 'dropped':
        return this.#dropped(line);
      case 'planned': // a fault can mean that no message follows
        if (line.plan === 'silence') return 'settled';
        if (effectOf(line.plan) === 'unsent') this.#lost(line);
    }
    return this.status;
  }

  /** Returns `settled` if no callback is pending and none follows: the reply is complete, or was canceled after its result. */
  get status(): CallStatus {
    const isAtEnd = this.turn?.next === undefined || this.cancelReason !== null;
    const isThrough = this.rendered.every(({ state }) => state !== 'waiting');
    return this.isAnswered && isAtEnd && isThrough ? 'settled' : 'open';
  }

  /** Keeps the first reason. No event is owed any more (TOOL-SUB). */
  cancel(reason: string): void {
    this.cancelReason ??= reason;
    const about = { calls: [this.key], thread: this.thread, seq: 0, at: 0 };
    const value = this.cancelReason;
    this.#kept.set('cancel', [{ kind: 'decided', what: 'cancel', by: 'policy', value, ...about }]);
    for (const one of this.rendered)
      if (one.type === 'subscription_event' && one.state === 'waiting') one.state = 'dropped';
  }

  #match(line: Line<'matched'>): void {
    const matched = line as Matched;
    this.matched = matched;
    const warned = line.fixture === null ? this.#warned : null;
    this.refusal = warned?.message ?? null;
    this.#kept.set('matched', warned ? [warned as Event, matched] : [matched]);
  }

  #posted(line: Line<'request'>, bytes: Content | null): void {
    const { url, leg, attempt, headers, body: { sha256 } = {}, turn = ONLY } = line;
    const name = `posted${this.rendered.length}`;
    const isSame = ({ body }: Posting) => body.sha256 === sha256;
    const isAgain = (one: Posting) => leg !== name && (attempt > 1 || one.leg === one.name); // a retry in this run or after an earlier one
    const known = this.rendered.find(
      one => one.state === 'waiting' && one.url === url && isSame(one) && isAgain(one),
    );
    const body = bytes ?? this.rendered.find(isSame)?.body;
    if (known) known.leg = leg;
    else if (body) {
      const type = typeOf(body);
      const contentType = headers['content-type'] ?? '';
      this.rendered.push({ url, body, contentType, turn, state: 'waiting', type, leg, name });
      this.#kept.set(name, [eventOf(line, body)]);
      this.#passed(turn, type);
    }
  }

  #dropped(line: Line<'dropped'>): CallStatus {
    if (isStopReason(line.why) || line.what === 'event') return 'open';
    if (!this.#ended(line, 'dropped')) this.#lost(line);
    return line.what === 'invocation' ? 'settled' : this.status;
  }

  /** Returns false if the event is not about a posted callback. */
  #ended(line: Line<'response' | 'dropped'>, state: Posting['state']): boolean {
    const posting = this.rendered.find(({ leg }) => leg === line.leg);
    if (!posting) return false;
    posting.state = state;
    this.#kept.get(posting.name)?.push(eventOf(line));
    return true;
  }

  /** Records a message that will never be posted. */
  #lost(line: Line<'planned' | 'dropped'>): void {
    this.#kept.set(`lost${this.#kept.size}`, [eventOf(line)]);
    this.#passed(line.turn, line.type);
  }

  #passed(turn: Turn = ONLY, type?: string): void {
    this.turn = turn;
    this.isAnswered ||= endsCall(type);
  }
}

/** Returns the `type` of a message. The parsed message is not kept in memory. */
function typeOf({ bytes }: Content): string | undefined {
  const json = readJson(bytes);
  const type = json.ok && isRecord(json.value) ? json.value['type'] : undefined;
  return typeof type === 'string' ? type : undefined;
}

function eventOf(line: Line<'request' | 'response' | 'planned' | 'dropped'>, body?: Content): Event {
  return { ...line, body } as Event;
}

/** Reads a journal line by line. Its memory grows with the open calls, not with the file. */
export class JournalReader {
  readonly #open = new Map<string, RecoveredCall>();
  readonly #settled = new RecentMap<string, Settled>(DEFAULTS.journalCalls);
  readonly #counters = new Counters();
  readonly #damaged: Recovery['damaged'][number][] = [];
  #body: Content | null = null;
  #isChecked = true;
  #lines = 0;

  constructor(private readonly path: string) {}

  /** @param incompleteBytes length of an incomplete last line @throws ProtocolCliError `unreadable-file` without a header */
  recovery(incompleteBytes: number): Recovery {
    if (this.#lines === 0 && incompleteBytes > 0) throw this.unreadable(NO_HEADER);
    const calls = [...this.#open.values()];
    const settled = [...this.#settled.values()];
    return { calls, matched: this.#counters.facts(), settled, incompleteBytes, damaged: this.#damaged };
  }

  /** Returns an error with the file and the latest line. */
  unreadable(problem: string): ProtocolCliError {
    const place = this.#lines === 0 ? this.path : `${this.path}:${this.#lines}`;
    return new ProtocolCliError('unreadable-file', `${place}: cannot read this journal: ${problem}`, {
      hint: 'Move the file away to begin a new journal, or give another path.',
    });
  }

  /** Reads a line without its line feed. @throws ProtocolCliError `unreadable-file` if the file is not a journal */
  take(bytes: Uint8Array): void {
    this.#lines++;
    const json = readJson(bytes);
    const line = json.ok
      ? validate(journalLineSchema, json.value)
      : ({ ok: false, faults: [json.reason] } as const);
    if (this.#lines === 1) {
      if (!line.ok) throw this.unreadable(line.faults.join('; '));
      if (line.value.kind !== 'header') throw this.unreadable(NO_HEADER);
      this.#isChecked = line.value.format === FORMAT;
    }
    if (!line.ok || (this.#isChecked && !isIntact(bytes)))
      this.#damaged.push({ number: this.#lines, held: describeDamaged(bytes) });
    else if (this.#lines > 1 && line.value.kind === 'header')
      throw this.unreadable('unexpected second header');
    else this.#apply(line.value);
  }

  #apply(line: JournalLine): void {
    switch (line.kind) {
      case 'header':
      case 'begun':
        break;
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
      case 'request':
        this.#request(line);
        break;
      default:
        if (line.kind === 'matched') this.#counters.take(line as Matched);
        this.#applyToCalls(line, null);
    }
  }

  #request(line: Line<'request'>): void {
    const carried = this.#body;
    this.#body = null;
    const body = carried?.sha256 === line.body?.sha256 ? carried : null; // otherwise an earlier line contains it
    const { purpose, thread } = line;
    if (purpose === 'invocation') this.#invocation(line, body);
    if (purpose === 'callback') this.#applyToCalls(line, body);
    if (purpose === 'cancel') for (const call of this.#callsOf(line)) this.#cancel(call, CANCELED);
    if (thread !== undefined && (purpose === 'close' || purpose === 'migrate')) this.#closeThread(thread);
  }

  /** Ignores a repeat of a finished or open call. */
  #invocation(line: Line<'request'>, body: Content | null): void {
    const [key] = line.calls ?? [];
    if (key === undefined || !body || this.#open.has(key)) return;
    const call = new RecoveredCall(key, line, body);
    if (!this.#settled.get(identityOf(settledCall(call)))) this.#open.set(key, call);
  }

  #applyToCalls(line: JournalLine, body: Content | null): void {
    for (const call of this.#callsOf(line)) this.#end(call, call.apply(line, body));
  }

  #callsOf(line: JournalLine): RecoveredCall[] {
    const keys = 'calls' in line ? (line.calls ?? []) : [];
    return keys.flatMap(key => this.#open.get(key) ?? []);
  }

  #closeThread(thread: string): void {
    this.#counters.reset(thread);
    for (const call of [...this.#open.values()])
      if (call.thread === thread) this.#cancel(call, THREAD_CLOSED);
  }

  #cancel(call: RecoveredCall, reason: string): void {
    call.cancel(reason);
    this.#end(call, call.status);
  }

  #end(call: RecoveredCall, status: CallStatus): void {
    if (status === 'open') return;
    this.#open.delete(call.key);
    if (status === 'settled') this.#remember(settledCall(call));
  }

  #remember({ groupId, id, sha256 }: Settled): void {
    const settled = { groupId, id, sha256 };
    this.#settled.set(identityOf(settled), settled);
  }
}

/** Identifies a malformed invocation, which may have no id, by its bytes. */
function settledCall({ thread: groupId, invocation: { bytes, sha256 } }: RecoveredCall): Settled {
  const json = readJson(bytes);
  const id = json.ok && isRecord(json.value) ? json.value['id'] : undefined;
  return { groupId, id: typeof id === 'string' ? id : '', sha256 };
}

function identityOf({ groupId, id, sha256 }: Settled): string {
  return JSON.stringify([groupId, id, sha256]);
}

const NO_HEADER = 'the first line is not the header of a journal';

const DESCRIBED_BYTES = 64 * 1024;

/** Members of a line, or of the message in it, where quotes are escaped. Nothing else is quoted, because a journal contains secrets. */
const DESCRIBED = ['kind', 'purpose', 'type', 'operation', 'group_id', 'id'] as const;

/** Describes a damaged line, as far as it can be read. */
function describeDamaged(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.subarray(0, DESCRIBED_BYTES)).toString('utf8');
  const found = DESCRIBED.flatMap(name => {
    const [, value] = new RegExp(`\\\\?"${name}\\\\?"\\s*:\\s*\\\\?"([^"\\\\]{1,80})`).exec(text) ?? [];
    return value === undefined ? [] : [`, ${name} ${excerpt(value)}`];
  });
  return `${bytes.length} bytes${found.join('')}`;
}
