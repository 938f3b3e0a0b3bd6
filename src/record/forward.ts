import { rm } from 'node:fs/promises';
import { Content } from '../events/content.js';
import type { Event, Hop, RequestEvent } from '../events/events.js';
import type { GroupKeeper, Log } from '../events/log.js';
import { type RecordedRequest, recordRequest } from '../events/record-request.js';
import { type TranscriptAbout, transcriptWriter } from '../events/transcript-writer.js';
import { allowedDestinations, isLoopback } from '../http/addresses.js';
import {
  type HttpAnswer,
  type HttpClient,
  type HttpRequest,
  type ReadLimit,
  TransportError,
} from '../http/client.js';
import { readToolset } from '../protocol/read-toolset.js';
import { baseOf, discoveryCandidates, displayScriptsOf, type Tool } from '../protocol/toolset.js';
import type { Clock } from '../system/drafts.js';
import { createPrivateFile, type Files, GroupWriter, openToAppend } from '../system/files.js';
import { decodeUtf8 } from '../util/json.js';
import { isRecord } from '../util/json-diagnosis.js';
import { withStringMember } from '../util/json-text.js';
import type { Redactor } from '../util/redact.js';
import { readUrl } from '../util/strings.js';
import type { Handovers } from './recorded-calls.js';

/** A place in a queue. */
export interface Place {
  /** Resolves when those before it have left, or have taken too long. */
  readonly turn: Promise<void>;
  leave(): void;
}

/**
 * Keeps what belongs together in the order in which it came: messages of one thread, in one direction (RT-SERIAL). Each waits for the
 * answer to the one before, though no longer than `patienceMs` from when that one's turn was: who is slow to answer, or never does,
 * would not hold up the others without us either.
 */
export class Lanes {
  /** When the next one's turn is. */
  readonly #free = new Map<string, Promise<void>>();

  constructor(
    private readonly clock: Clock,
    private readonly patienceMs: number,
  ) {}

  enter(lane: string): Place {
    const turn = this.#free.get(lane) ?? Promise.resolve();
    let leave = () => {};
    const left = new Promise<void>(resolve => {
      leave = resolve;
    });
    const free = turn.then(() => this.#within(left));
    this.#free.set(lane, free);
    void free.then(() => this.#forget(lane, free));
    return { turn, leave };
  }

  #within(left: Promise<void>): Promise<void> {
    return new Promise(resolve => {
      const callOff = this.clock.after(this.patienceMs, resolve);
      void left.then(callOff).then(resolve);
    });
  }

  #forget(lane: string, free: Promise<void>): void {
    if (this.#free.get(lane) === free) this.#free.delete(lane);
  }
}

/** What messages are passed on with. */
export interface Desk {
  readonly log: Log;
  readonly client: HttpClient;
  readonly clock: Clock;
  readonly lanes: Lanes;
  readonly handovers: Handovers;
}

/** What a message is, on either side. */
export interface Matter {
  readonly purpose: RequestEvent['purpose'];
  /** Keys of the calls, and the thread, that it concerns, as far as they are known. */
  readonly calls?: string[] | undefined;
  readonly thread?: string | undefined;
}

/** How a message is on one side. */
interface Sight {
  readonly hop: Hop;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Content | undefined;
}

/** Records a message on one side of us. */
export function recordSide(log: Log, { purpose, calls, thread }: Matter, sight: Sight): RecordedRequest {
  return recordRequest(log, { ...partiesOf(purpose), purpose, calls, thread, ...sight });
}

/** Only callbacks come from the tool. */
export function isFromTool(purpose: RequestEvent['purpose']): boolean {
  return purpose === 'callback';
}

/** Names the way of all that a thread says to one side; null where no thread is known. */
export function laneTo(to: 'runtime' | 'tool', { thread }: Pick<Matter, 'thread'>): string | null {
  return thread === undefined ? null : JSON.stringify([to, thread]);
}

export function partiesOf(purpose: RequestEvent['purpose']) {
  return isFromTool(purpose)
    ? ({ from: 'tool', to: 'runtime' } as const)
    : ({ from: 'runtime', to: 'tool' } as const);
}

/** Where a message goes on to, and how. */
interface Onward {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Content | undefined;
  readonly signal?: AbortSignal;
}

/** The answers of a toolset are read whole; of thanks, this much. */
const MOST_TOOLSET = 10 * 1024 * 1024;
const MOST_THANKS = 1024 * 1024;
/** The head of an answer counts: nobody waits longer for what may follow it. */
const THANKS_MS = 1_000;
const NOTHING = new Uint8Array(0);

/** What a message could not be kept for: it did not go on. */
export class Unkept extends Error {}

/**
 * Sends a message on, once, and tells the log of it and of what came of it. It goes only once the log is kept: what nobody could read
 * later does not happen.
 * @throws TransportError where there is no answer; {@link Unkept}.
 */
export async function sendOn(desk: Desk, matter: Matter, onward: Onward): Promise<HttpAnswer> {
  const { method, url, headers, body } = onward;
  const hop = isFromTool(matter.purpose) ? 'runtime-side' : 'tool-side';
  const recorded = recordSide(desk.log, matter, { hop, method, url, headers, body });
  try {
    await kept(desk);
    const answer = await send(desk, matter, onward);
    recorded.answered(answer.status, responseOf(answer));
    return answer;
  } catch (error) {
    const { phase, code } = error instanceof TransportError ? error : UNKEPT;
    recorded.broken(phase, code);
    throw error;
  }
}

const UNKEPT = { phase: 'transcript', code: 'UNWRITABLE' };

async function kept({ log }: Desk): Promise<void> {
  try {
    await log.kept();
  } catch (cause) {
    throw new Unkept('the transcript could not be written', { cause });
  }
}

/** What an answer is as a fact. An encoded body is not: nobody could take the secrets out of it. */
export function responseOf({ headers, body }: HttpAnswer) {
  const isTold = body.length > 0 && headers['content-encoding'] === undefined;
  return { headers: { ...headers }, body: isTold ? new Content(body) : undefined };
}

async function send({ client, clock }: Desk, { purpose }: Matter, onward: Onward): Promise<HttpAnswer> {
  if (purpose === 'discovery') return client.send(requestOf(onward, TOOLSET));
  const patience = new AbortController();
  let head: HttpAnswer | null = null;
  let callOff = () => {};
  const read = (status: number, headers: HttpAnswer['headers']): ReadLimit => {
    head = { status, headers, body: NOTHING };
    callOff = clock.after(THANKS_MS, () => patience.abort());
    return THANKS;
  };
  try {
    return await client.send(requestOf(onward, read, patience.signal));
  } catch (error) {
    if (head) return head;
    throw error;
  } finally {
    callOff();
  }
}

const TOOLSET: ReadLimit = { maxBytes: MOST_TOOLSET, opaque: true };
const THANKS: ReadLimit = { maxBytes: MOST_THANKS, opaque: true, partial: true };

/** Without a time limit of ours: whoever waits for the answer has one. */
function requestOf(
  { method, url, headers, body, signal }: Onward,
  read: HttpRequest['read'],
  patience?: AbortSignal,
): HttpRequest {
  const signals = [signal, patience].filter(each => each !== undefined);
  return {
    ...{ method, url, headers, read, timeoutMs: 0 },
    ...(body && { body: body.bytes }),
    ...(signals.length > 0 && { signal: AbortSignal.any(signals) }),
  };
}

/** How a toolset is asked for. */
interface Asking {
  readonly headers: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

const PLAIN: Asking = { headers: { accept: 'application/json' } };

/** Where the tool is, by the latest discovery document that it gave. */
export class ToolAddress {
  /** Whose credentials we hand over. */
  readonly origin: string;
  #base: string;
  #endpoint: string | null = null;
  #known = '';
  #finding: Promise<HttpAnswer> | null = null;

  /** @param url as it was given, http or https */
  constructor(
    private readonly desk: Desk,
    private readonly url: string,
  ) {
    this.origin = new URL(url).origin;
    this.#base = baseOf(url);
  }

  /** Where notices go. */
  get base(): string {
    return this.#base;
  }

  /** Whether the tool may have answers sent there: to itself, or on this machine where it is on this machine too (threats, row 9). */
  takesAnswersAt(url: string): boolean {
    const endpoint = readUrl(this.#endpoint ?? this.url);
    const origins = [this.origin, ...(endpoint ? [endpoint.origin] : [])];
    return allowedDestinations(origins)(url) === null && (!isLocal(url) || isLocal(this.url));
  }

  /** Where invocations go, asked for where it is not known yet; null where the document names no such place. @throws as {@link ask}. */
  async endpoint(): Promise<string | null> {
    if (this.#endpoint === null) await this.#find();
    return this.#endpoint;
  }

  /** Once for all who wait for it. */
  #find(): Promise<HttpAnswer> {
    this.#finding ??= this.ask(PLAIN).finally(() => {
      this.#finding = null;
    });
    return this.#finding;
  }

  /**
   * Asks for the toolset at the url, then at its origin. The first answer counts where there is none.
   * @throws TransportError where no answer came; `Unkept`.
   */
  async ask(asking: Asking): Promise<HttpAnswer> {
    let first: HttpAnswer | undefined;
    for (const { base, url } of discoveryCandidates(this.url)) {
      const answer = await sendOn(this.desk, { purpose: 'discovery' }, { method: 'GET', url, ...asking });
      if (answer.status === 200) return this.#learn(base, answer);
      first ??= answer;
    }
    if (first) return first;
    throw new Error('there is always a first candidate');
  }

  /** A toolset that is not valid has an endpoint all the same: what it is worth is for others to judge. */
  async #learn(base: string, answer: HttpAnswer): Promise<HttpAnswer> {
    const document = new Content(answer.body);
    const endpoint = endpointIn(document);
    if (endpoint !== null) [this.#base, this.#endpoint] = [base, endpoint];
    if (document.sha256 === this.#known) return answer;
    this.#known = document.sha256;
    const { ok, ...reading } = await readToolset(document.json);
    if (ok && 'toolset' in reading) this.#tell(base, reading.toolset);
    return answer;
  }

  #tell(base: string, { name, endpoint, tools }: { name: string; endpoint: string; tools: Tool[] }) {
    const operations = tools.map(tool => tool.name);
    this.desk.log.emit({
      kind: 'loaded',
      base,
      endpoint,
      toolset: name,
      operations,
      ...displayScriptsOf(tools),
    });
  }
}

function isLocal(url: string): boolean {
  return isLoopback(readUrl(url)?.hostname ?? '');
}

/** The endpoint that a discovery document names; null where it is none that could be called. */
export function endpointIn({ json }: Content): string | null {
  const endpoint = json.ok && isRecord(json.value) ? json.value['endpoint'] : undefined;
  if (typeof endpoint !== 'string') return null;
  return /^https?:$/.test(readUrl(endpoint)?.protocol ?? '') ? endpoint : null;
}

/** A transcript that is written line by line, so that whoever is killed leaves all that was said: `log.keep(file)`. */
export interface TranscriptFile extends GroupKeeper {
  /**
   * Writes why it ends, and what is left.
   * @throws ProtocolCliError `unwritable-file` for the first line that could not be written in time, were it written later.
   */
  close(reason: string): Promise<void>;
  /** Once it is closed: of what never began nothing is left, so that it can be begun again. */
  remove(): Promise<void>;
}

/**
 * Starts a file of the owner's where nothing is, or an empty file (threats, rows 25 to 27).
 * @param files node:fs unless told
 * @throws ProtocolCliError `unwritable-file`.
 */
export async function createTranscriptFile(
  path: string,
  redactor: Redactor,
  about: TranscriptAbout,
  files?: Files,
): Promise<TranscriptFile> {
  const lines = transcriptWriter(redactor);
  const draft = await createPrivateFile(path, files);
  await draft.write(lines.header(about));
  await draft.commit({ replaces: false });
  const file = await openToAppend(path, files);
  const { size: position } = await file.stat();
  const writer = new GroupWriter({ path, file, position, sync: false });
  const add = (texts: readonly string[]) => writer.add(texts.map(text => `${text}\n`).join(''));
  return {
    take: (event: Event) => add(lines.event(event)),
    kept: () => writer.kept(),
    async close(reason) {
      add([lines.end(reason)]);
      await writer.kept().catch(() => {}); // `failure` says it
      await file.close();
      if (writer.failure) throw writer.failure;
    },
    remove: () => rm(path, { force: true }),
  };
}

/** The direct members of a message; of what is no JSON object none. */
export function fieldsOf(body: Content | undefined): Readonly<Record<string, unknown>> {
  return body?.json.ok && isRecord(body.json.value) ? body.json.value : {};
}

/** A string of a message; undefined where it has none of that name. */
export function stringIn(body: Content | undefined, name: string): string | undefined {
  const value = fieldsOf(body)[name];
  return typeof value === 'string' ? value : undefined;
}

/** A JSON object with another string in the place of one that it has, and byte for byte as it was otherwise. */
export function withString(body: Content, name: string, value: string): Content {
  const bytes = Buffer.from(withStringMember(decodeUtf8(body.bytes) ?? '', name, value));
  const { json } = body;
  return json.ok && isRecord(json.value)
    ? Content.withJson(bytes, { ...json, value: { ...json.value, [name]: value } })
    : new Content(bytes);
}
