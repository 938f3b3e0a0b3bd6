import type * as z from 'zod/mini';
import { Content } from '../events/content.js';
import type { Body, RequestEvent } from '../events/events.js';
import { canBeCanceled, type Exchange } from '../events/exchange.js';
import { type Log, RecordedRequest } from '../events/log.js';
import { refusalTexts } from '../events/refusal.js';
import { isEncoded } from '../http/body.js';
import type { HttpAnswer, HttpClient, HttpRequest, ReadLimit } from '../http/client.js';
import { explainFailure, TransportError } from '../http/transport-error.js';
import { type choiceResponseSchema, NOTICES, type Notice } from '../protocol/invocation.js';
import { readToolset, type ValidToolset } from '../protocol/read-toolset.js';
import type { Warning } from '../protocol/requirements.js';
import { baseOf, discoveryCandidates, type Toolset } from '../protocol/toolset.js';
import { messageOf, ProtocolCliError } from '../util/errors.js';
import { asksForCredentials, mediaTypeOf } from '../util/headers.js';
import { LIMITS } from '../util/limits.js';
import { truncateBeforeToken } from '../util/text.js';
import { visibleLine } from '../util/visible.js';

type ChoiceResponse = z.infer<typeof choiceResponseSchema>;

type About = Pick<RequestEvent, 'purpose' | 'calls' | 'thread'> & { readonly attempt?: number };

/** Hints if discovery finds no document. */
export interface DiscoveryHints {
  /** For a server that requires credentials. */
  readonly locked: string;
  /** For a URL that answers 200 with an empty body, as an endpoint does. Default: that of all others. */
  readonly empty?: string;
  readonly missing: string;
}

export const DISCOVERY_HINTS: DiscoveryHints = {
  locked: 'Give a token with --bearer <token | env:NAME>, or a header with -H.',
  empty: 'This may be the endpoint: give the base URL of the tool server.',
  missing: 'Give the base URL of the tool server: its endpoint alone does not say which tools there are.',
};

/** For 502, 503 and 504. */
const BEHIND_PROXY =
  'A proxy or recorder at this address cannot reach the tool. Check that the tool behind it is running.';

const DISCOVERY = {
  method: 'GET',
  headers: { accept: 'application/json' },
  read: { maxBytes: LIMITS.toolsetBytes.value },
} as const;

/** The statuses of a discovery whose answer is quoted; a 404 says nothing more. */
const SAID = [301, 302, 303, 307, 308, 403, 429];

/** Maximum length of a quoted answer, in characters. */
const MAX_SAID = 1_000;

const WEB_PAGE = 'text/html';

/** A selection gets more time than a notice: the user waits for its effect, and it is sent once. */
const SELECTION_TIMEOUT_MS = 10_000;

/** Longer than a tool on a busy machine takes: an unanswered notice is held against it (TOOL-CLOSE, TOOL-CANCEL). */
const NOTICE_TIMEOUT_MS = 3_000;

const EXCERPT = { maxBytes: LIMITS.excerptBytes.value, partial: true } as const;

interface FailedDiscovery {
  readonly status: number;
  readonly isPage: boolean;
  /** Whether it asks for credentials. */
  readonly isLocked: boolean;
  /** Whether it is a 200 with an empty body. */
  readonly isEmpty: boolean;
  /** What the server answered. */
  readonly text: string;
}

function failedDiscovery(url: string, { status, headers }: HttpAnswer, body: Body): FailedDiscovery {
  const isPage = mediaTypeOf(headers['content-type'] ?? '') === WEB_PAGE;
  const texts = SAID.includes(status) ? refusalTexts({ status, headers, body }, url) : [];
  const said = truncateBeforeToken(texts.join('; '), MAX_SAID);
  const isEmpty = status === 200 && body.size === 0;
  const kind = isPage ? ` with ${WEB_PAGE}` : isEmpty ? ' with an empty body' : '';
  const what = `${url} answered ${status}${kind}`;
  const isLocked = asksForCredentials(status, headers);
  return { status, isPage, isLocked, isEmpty, text: said === '' ? what : `${what}: ${said}` };
}

/** The hint for a status that says why there is no document; undefined for others. */
function hintOn(failures: readonly FailedDiscovery[]): string | undefined {
  const some = (from: number, to = from) => failures.some(({ status }) => status >= from && status <= to);
  if (some(502, 504)) return BEHIND_PROXY;
  if (some(500, 599)) return 'The server failed to answer: see its log.';
  if (some(429)) return 'The server limits the rate of requests; wait, and try again.';
  return some(300, 399) ? 'Redirects are not followed: give the URL that it redirects to.' : undefined;
}

/** The answer to a message. Only 200 means that the tool accepted it. */
export interface NoticeAnswer {
  /** Null if there was no answer. */
  readonly status: number | null;
  /** The beginning of the response body of a refusal, or why there was no answer. */
  readonly reason: string;
  /** What to do if there was no answer. */
  readonly hint?: string | undefined;
  /** Null if the size is unknown. */
  readonly bodySize: number | null;
}

interface Waiting {
  /** Default: 1,000; 0 for no limit. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

interface EndOptions {
  /** Whether this runtime created the thread. */
  readonly isOurThread: boolean;
  /** If false, the thread is left open. */
  readonly closes: boolean;
  /** Waits for callbacks that may still arrive after a cancel. */
  readonly waitForCallbacks?: (() => Promise<void>) | undefined;
}

/** A toolset, and the URL that it was found at. */
export interface DiscoveredToolset extends ValidToolset {
  readonly url: string;
}

/** Sends requests to a tool server and records them. Credentials go to the origin of its URL only (threats, row 12). */
export class Wire {
  /** The base URL for notices; discovery may find another one. */
  base: string;
  /** Called with each valid toolset. */
  onToolset: (toolset: Toolset) => void = () => {};

  constructor(
    readonly log: Log,
    private readonly client: HttpClient,
    readonly url: string,
    public headers: Readonly<Record<string, string>> = {},
  ) {
    this.base = baseOf(url);
  }

  /** The same wire with other headers. */
  withHeaders(headers: Readonly<Record<string, string>>): Wire {
    const wire = new Wire(this.log, this.client, this.url, headers);
    wire.base = this.base;
    return wire;
  }

  /** Warns that credentials are not sent to an endpoint on another origin. */
  withheldFrom(endpoint: string): Warning[] {
    const names = Object.keys(this.headers).join(', ');
    const { origin } = new URL(this.url);
    if (names === '' || new URL(endpoint).origin === origin) return [];
    return [
      { message: `the endpoint ${endpoint} is on another origin than ${origin}: ${names} withheld from it` },
    ];
  }

  /** Sends one request and records it with its answer. @throws TransportError */
  async send({ purpose, attempt = 1, ...about }: About, request: HttpRequest): Promise<HttpAnswer> {
    const { method, url, body } = request;
    const isOwnOrigin = URL.canParse(url) && new URL(url).origin === new URL(this.url).origin;
    const headers = { ...request.headers, ...(isOwnOrigin && this.headers) };
    const recorded = new RecordedRequest(this.log, {
      from: 'runtime',
      to: 'tool',
      method,
      url,
      headers,
      purpose,
      attempt,
      ...about,
      body: body && new Content(body),
    });
    return recorded.recordSending(this.client.send({ ...request, headers }));
  }

  /** Like {@link send}. @throws ProtocolCliError `unreachable` or `refused-address`, with the address and the reason. */
  async request(about: About, request: HttpRequest): Promise<HttpAnswer> {
    try {
      return await this.send(about, request);
    } catch (error) {
      throw error instanceof TransportError ? explainFailure(error, request.url, 'tool') : error;
    }
  }

  /**
   * Requests `{url}/.well-known/rap-toolset`, then the origin's, and loads the toolset. Notices go to the base URL that answered.
   * @param timeoutMs time limit of the user; 0 for the default of 10 s, which is also the longest
   * @throws ProtocolCliError `unreachable`, `no-discovery` or `invalid-toolset`.
   */
  async discover(hints = DISCOVERY_HINTS, timeoutMs = 0): Promise<DiscoveredToolset> {
    const reading = await this.loadToolset(hints, timeoutMs);
    if (reading.ok) return reading;
    throw new ProtocolCliError('invalid-toolset', `the toolset at ${reading.url} is not valid`, {
      faults: reading.faults.map(visibleLine),
      hint: 'One invalid tool makes the whole toolset unusable (RT-TOOLSET): fix these and try again.',
    });
  }

  /**
   * Reads the toolset, which may be invalid; a valid one is recorded: its operations may be dispatched from now on (RT-OP).
   * @throws ProtocolCliError `unreachable` or `no-discovery`.
   */
  async loadToolset(hints = DISCOVERY_HINTS, timeoutMs = 0) {
    const { base, url, body } = await this.findDocument(hints, timeoutMs);
    this.base = base;
    const reading = await readToolset(body.json);
    if (reading.ok) {
      const { name, endpoint, tools } = reading.toolset;
      this.onToolset(reading.toolset);
      const operations = tools.map(tool => tool.name);
      this.log.emit({ kind: 'loaded', base, endpoint, toolset: name, operations });
    }
    return { ...reading, url };
  }

  /** Returns the discovery document, not validated yet. @throws ProtocolCliError `unreachable` or `no-discovery`. */
  async findDocument(hints = DISCOVERY_HINTS, timeoutMs = 0) {
    const failures: FailedDiscovery[] = [];
    for (const { base, url } of discoveryCandidates(this.base)) {
      const request = {
        ...DISCOVERY,
        url,
        timeoutMs: Math.min(timeoutMs || LIMITS.discoveryMs.value, LIMITS.discoveryMs.value),
      };
      const answer = await this.request({ purpose: 'discovery' }, request);
      const content = new Content(answer.body);
      const failure = failedDiscovery(url, answer, content);
      const isDocument = content.json.ok || !(failure.isPage || failure.isEmpty);
      if (answer.status === 200 && isDocument) return { base, url, body: content };
      failures.push(failure);
    }
    const isLocked = failures.some(each => each.isLocked);
    const isEmpty = failures.some(each => each.isEmpty);
    const page = failures.some(({ isPage }) => isPage) ? 'This is a web page, not a RAP tool. ' : '';
    const answers = failures.map(({ text }) => text).join(', ');
    throw new ProtocolCliError('no-discovery', `no discovery document: ${answers}`, {
      hint: isLocked
        ? hints.locked
        : (hintOn(failures) ?? page + ((isEmpty && hints.empty) || hints.missing)),
    });
  }

  /** Sends a notice once; never throws (RT-NOTIFY). */
  notify({ kind, message }: Notice, waiting: Waiting = {}, calls?: string[]): Promise<NoticeAnswer> {
    const thread = 'thread_id' in message ? { thread: message.thread_id } : {};
    const about: About = { purpose: kind, ...thread, ...(calls && { calls }) };
    return this.#post(about, this.base + NOTICES[kind].path, message, waiting);
  }

  /** Sends `/close_thread` once; never throws (RT-NOTIFY). */
  closeThread(thread: string, waiting?: Waiting): Promise<NoticeAnswer> {
    return this.notify({ kind: 'close', message: { thread_id: thread } }, waiting);
  }

  /** Sends `/cancel_tool_call` once; a result may still come. Never throws (RT-NOTIFY). */
  cancelToolCall(
    { key, thread, id }: { key: string; thread: string; id: string },
    waiting?: Waiting,
  ): Promise<NoticeAnswer> {
    return this.notify({ kind: 'cancel', message: { thread_id: thread, tool_call_id: id } }, waiting, [key]);
  }

  /** Cancels a call or its subscription, locally and at the tool. Never throws. */
  cancelCall(
    { key, invocation: { id, group_id: thread } }: Exchange,
    by: 'person' | 'policy',
    waiting?: Waiting,
  ): Promise<NoticeAnswer> {
    this.log.emit({ kind: 'decided', what: 'cancel', by, calls: [key] });
    return this.cancelToolCall({ key, thread, id }, waiting);
  }

  /** Sends the user's selection (RT-CHOICE); never throws. If it does not arrive, the call stays pending. */
  respondToChoice(
    url: string,
    { key, thread, signal }: { key: string; thread: string; signal: AbortSignal },
    response: ChoiceResponse,
  ): Promise<NoticeAnswer> {
    const about: About = { purpose: 'choice', thread, calls: [key] };
    return this.#post(about, url, response, { timeoutMs: SELECTION_TIMEOUT_MS, signal });
  }

  /**
   * Notifies the tool that a call is over: cancels a call that was given up, or a subscription, and closes the thread if this runtime
   * created it. A call that timed out is not canceled: a late result does no harm, unless it opens a subscription.
   */
  async endCall(exchange: Exchange, { isOurThread, closes, waitForCallbacks }: EndOptions): Promise<void> {
    const { invocation, settled, subscription } = exchange;
    const { group_id: thread, id } = invocation;
    if (settled?.by === 'denial') return;
    if (settled && canBeCanceled(exchange) && !isOurThread) {
      await this.cancelCall(exchange, 'policy'); // closing the thread would also end the subscription
      await waitForCallbacks?.();
    } else if (settled?.by === 'cancel' || subscription?.ended?.by === 'cancel') {
      await this.cancelToolCall({ key: exchange.key, thread, id });
      await waitForCallbacks?.();
    }
    if (isOurThread && closes) await this.closeThread(thread);
  }

  async #post(
    about: About,
    url: string,
    message: Notice['message'] | ChoiceResponse,
    { timeoutMs = NOTICE_TIMEOUT_MS, signal }: Waiting,
  ): Promise<NoticeAnswer> {
    // The answer to a notice should have no body (TOOL-CLOSE, TOOL-CANCEL); reading its beginning shows whether it does.
    const readAccepted =
      about.purpose === 'choice' ? (): ReadLimit => 'nothing' : readBeginning(500, EXCERPT.maxBytes);
    try {
      const { status, headers, body } = await this.request(about, {
        method: 'POST',
        url,
        headers: { 'content-type': 'application/json' },
        body: Buffer.from(JSON.stringify(message)),
        read: (status, headers) => (status === 200 ? readAccepted(status, headers) : EXCERPT),
        timeoutMs,
        ...(signal && { signal }),
      });
      const said = { status, headers, body: new Content(body) };
      const reason = status === 200 ? '' : refusalTexts(said, url).join('; ');
      const announced = headers['content-length'];
      const size = body.length > 0 ? null : 0;
      return { status, reason, bodySize: announced === undefined ? size : Number(announced) };
    } catch (error) {
      const { hint } = error instanceof ProtocolCliError ? error : {};
      return { status: null, reason: messageOf(error), hint, bodySize: 0 };
    }
  }
}

function readBeginning(withinMs: number, maxBytes: number) {
  return (_: number, headers: HttpAnswer['headers']): ReadLimit =>
    isEncoded(headers) || headers['content-length'] === '0'
      ? 'nothing'
      : { maxBytes, partial: true, withinMs };
}

/**
 * Reads enough of an acknowledgement's body to detect a result in it (TOOL-ASYNC). The wait is well below the tolerance for late
 * acknowledgements (TOOL-ACK), because the answer is recorded only afterwards.
 */
export const readAcknowledgement = readBeginning(50, LIMITS.acknowledgementBytes.value);
