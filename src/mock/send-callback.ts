import { crc32 } from 'node:zlib';
import * as z from 'zod/mini';
import { Content } from '../events/content.js';
import { factSchema, type Turn } from '../events/events.js';
import type { Log } from '../events/log.js';
import {
  type HttpAnswer,
  type HttpClient,
  type HttpRequest,
  type ReadLimit,
  TransportError,
} from '../http/client.js';
import { readJson } from '../util/json.js';
import { isRecord } from '../util/json-diagnosis.js';

/** A message to the runtime, ready to go: these bytes, to this very address (TOOL-OPAQUE). */
export interface Callback {
  /** The call it belongs to. */
  readonly key: string;
  readonly thread: string;
  /** As the invocation gave it; nothing of it is changed. */
  readonly url: string;
  readonly body: Content;
  /** `application/json` unless a fault wants another. */
  readonly contentType?: string | undefined;
  /** `slow`: the body comes in small pieces, over about two seconds. */
  readonly pace?: 'slow' | undefined;
  /** Why nobody wants it any more; null while somebody does. Asked before each attempt, however long it waited for that. */
  readonly cancelReason?: (() => string | null) | undefined;
  /** For a journal: where its call goes on after it. */
  readonly turn?: Turn | undefined;
}

/** How it ended. `attempts` counts the requests that were made; 0 where it was refused before. */
export type Delivery =
  | { readonly delivered: true; readonly status: number; readonly attempts: number }
  | { readonly delivered: false; readonly why: string; readonly attempts: number };

const STOPPED = 'the tool was stopped before it was delivered';

/** Why a callback that the end of a run overtook was given up; `because` of its last attempt, where there was one. */
export function stopped(because?: string): string {
  return because === undefined ? STOPPED : `${STOPPED}: ${because}`;
}

/** Whether it was given up only for that: where a journal has it, the next run delivers it. */
export function wasStopped(why: string): boolean {
  return why.startsWith(STOPPED);
}

/** The `type` of a message; undefined where it says none, or is no JSON at all. It is read anew: what is sent is not to be held on to. */
export function typeOf({ bytes }: Pick<Content, 'bytes'>): string | undefined {
  const json = readJson(bytes);
  const type = json.ok && isRecord(json.value) ? json.value['type'] : undefined;
  return typeof type === 'string' ? type : undefined;
}

/** Who sends, and how long it may take, in ms. */
interface Sender {
  readonly client: HttpClient;
  readonly timeoutMs: number;
}

const JSON_HEADERS = Object.freeze({ 'content-type': 'application/json' });
const NOTHING = new Uint8Array(0);
const SLOW_PIECES = 20;
const SLOW_EVERY_MS = 100;

/** The one object for nearly all of them: events hold on to it. */
function headersOf({ contentType }: Callback): Readonly<Record<string, string>> {
  const isJson = contentType === undefined || contentType === JSON_HEADERS['content-type'];
  return isJson ? JSON_HEADERS : { 'content-type': contentType };
}

/**
 * POSTs a callback. Where only the body of its answer breaks, the status stands all the same: a 404 is not asked again because its
 * text came too slowly.
 * @throws TransportError where there is no status.
 */
async function send({ client, timeoutMs }: Sender, callback: Callback): Promise<HttpAnswer> {
  let head: HttpAnswer | null = null;
  const request: HttpRequest = {
    method: 'POST',
    url: callback.url,
    headers: headersOf(callback),
    body: callback.body.bytes,
    read(status, headers) {
      head = { status, headers, body: NOTHING };
      return readingFor(status);
    },
    timeoutMs,
    ...(callback.pace === 'slow' && slowly(callback.body.size, timeoutMs)),
  };
  try {
    return await client.send(request);
  } catch (error) {
    if (head) return head;
    throw error;
  }
}

/** The beginning of a refusal helps a person; a runtime's thanks are not read. */
function readingFor(status: number): ReadLimit {
  return status < 300 ? 'nothing' : { maxBytes: 4 * 1024, partial: true };
}

function slowly(size: number, timeoutMs: number): Pick<HttpRequest, 'pace' | 'timeoutMs'> {
  const pace = { bytes: Math.max(1, Math.ceil(size / SLOW_PIECES)), everyMs: SLOW_EVERY_MS };
  return { pace, timeoutMs: timeoutMs + SLOW_PIECES * SLOW_EVERY_MS };
}

/** What an attempt came to. */
type Verdict = { readonly kind: 'delivered'; readonly status: number } | Setback;

/** It did not arrive: nothing will ever make it (`refused`), or another attempt may. */
export interface Setback {
  readonly kind: 'refused' | 'failed';
  readonly why: string;
  /** As the answer said it. */
  readonly retryAfter?: string | undefined;
}

/** Only a 5xx is worth another attempt (TOOL-RETRY, TOOL-NORETRY); a redirect is not followed (threats, row 11). */
function ofAnswer({ status, headers }: Pick<HttpAnswer, 'status' | 'headers'>): Verdict {
  if (status < 300) return { kind: 'delivered', status };
  if (status < 400)
    return { kind: 'refused', why: `the runtime answered ${status}; redirects are not followed` };
  if (status < 500) return { kind: 'refused', why: `the runtime answered ${status}; not retried` };
  return { kind: 'failed', why: `the runtime answered ${status}`, retryAfter: headers['retry-after'] };
}

/** What is wrong with the request itself, or with where it goes, stays wrong. */
const FINAL = new Set(['REFUSED_ADDRESS', 'BAD_URL', 'BAD_HEADER']);

function ofError(error: unknown): Verdict {
  const why = error instanceof Error ? error.message : String(error);
  const isFinal = error instanceof TransportError && FINAL.has(error.code);
  return { kind: isFinal ? 'refused' : 'failed', why };
}

/** What attempts are made with. */
export interface Carrier extends Sender {
  readonly log: Log;
}

/** A callback, and how events say what it concerns: all of them with the same list. */
export interface Parcel {
  readonly callback: Callback;
  readonly about: { readonly calls: string[]; readonly thread: string };
}

/** What came of one attempt, and the leg it went by. */
export interface Attempt {
  readonly leg: string;
  readonly verdict: Verdict;
}

/**
 * POSTs a callback once, and tells the log the request and what became of it. Its bytes are kept before they are sent: after a crash
 * the same ones go out again.
 */
export async function attempt(carrier: Carrier, parcel: Parcel, number: number): Promise<Attempt> {
  const { log } = carrier;
  const leg = log.leg();
  tellRequest(log, leg, parcel, number);
  try {
    await log.kept();
    const answer = await send(carrier, parcel.callback);
    tellResponse(log, leg, parcel, answer);
    return { leg, verdict: ofAnswer(answer) };
  } catch (error) {
    const { phase, code } = error instanceof TransportError ? error : UNKEPT;
    log.emit({ kind: 'broken', leg, phase, code, ...parcel.about });
    return { leg, verdict: ofError(error) };
  }
}

/** No request was made: the journal is the only other thing that can fail. */
const UNKEPT = { phase: 'journal', code: 'UNWRITABLE' };

function tellRequest(log: Log, leg: string, { callback, about }: Parcel, attempt: number): void {
  const { url, body, turn } = callback;
  log.emit({
    kind: 'request',
    leg,
    from: 'tool',
    to: 'runtime',
    purpose: 'callback',
    method: 'POST',
    url,
    headers: headersOf(callback),
    body,
    attempt,
    calls: about.calls,
    thread: about.thread,
    turn,
  });
}

const NO_HEADERS = Object.freeze({});

/** Thanks have nothing to tell; of a refusal everything may help. */
function tellResponse(log: Log, leg: string, { about }: Parcel, { status, headers, body }: HttpAnswer): void {
  const { calls, thread } = about;
  if (status < 300) log.emit({ kind: 'response', leg, status, headers: NO_HEADERS, calls, thread });
  else {
    const said = body.length > 0 ? new Content(body) : undefined;
    log.emit({ kind: 'response', leg, status, headers: { ...headers }, body: said, calls, thread });
  }
}

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
