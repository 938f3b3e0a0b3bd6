import { createHash } from 'node:crypto';
import { Content } from '../events/content.js';
import type { RequestEvent } from '../events/events.js';
import { type Allows, allowedDestinations, isLoopback } from '../http/addresses.js';
import type { HttpAnswer } from '../http/client.js';
import type { Incoming, Refusal, Reply, Route } from '../http/route.js';
import { SecretPaths } from '../http/secret-paths.js';
import { readToolset } from '../protocol/read-toolset.js';
import { discoveryCandidates, displayScriptsOf, baseOf as toolBaseOf } from '../protocol/toolset.js';
import { RecentMap } from '../util/collections.js';
import { readUrl } from '../util/url.js';
import {
  type About,
  contentOf,
  type Forwarder,
  fieldsOf,
  Received,
  stringIn,
  withString,
} from './forwarder.js';

const INVOKE = '/invoke';

const DISCOVERY = '/.well-known/rap-toolset';

const CALLBACKS = '/callback/';

const CHOICES = '/choices/';

const NOTICES: Readonly<Record<string, RequestEvent['purpose']>> = {
  '/cancel_tool_call': 'cancel',
  '/close_thread': 'close',
  '/migrate': 'migrate',
};

interface RecordedQuestion {
  readonly call: RecordedCall;
  readonly responseUrl: string;
}

/** Forwards messages in both directions and replaces the addresses in them with the recorder's. */
export class RecorderRoutes {
  readonly #keys = new CallKeys();
  readonly #callbacks = new SecretPaths<RecordedCall>(CALLBACKS, REMEMBERED);
  readonly #questions = new SecretPaths<RecordedQuestion>(CHOICES, REMEMBERED);

  /** @param callbackBase our base URL for the tool */
  constructor(
    private readonly forwarder: Forwarder,
    private readonly tool: ToolAddress,
    private readonly allows: Allows,
    private readonly callbackBase: () => string,
  ) {}

  /** Number of calls; a call sent again counts once while it is remembered. */
  get calls(): number {
    return this.#keys.count;
  }

  get all(): Route[] {
    const post = (
      name: string,
      serves: Route['serves'],
      handle: (incoming: Incoming) => Promise<Reply>,
    ): Route => ({
      ...{ name, serves, method: 'POST', accepts: 'anything' },
      handle: handle.bind(this),
    });
    return [
      post('invocation', path => path === INVOKE, this.#invoke),
      post('callback', path => this.#callbacks.resolve(path) !== undefined, this.#callback),
      post('choice', path => this.#questions.resolve(path) !== undefined, this.#choice),
      {
        ...post('discovery', path => path === DISCOVERY, this.#discover),
        ...{ method: 'GET', accepts: 'nothing' },
      },
      post('notice', path => Object.hasOwn(NOTICES, path), this.#notice),
    ];
  }

  /** Records a request that the guard refused (threats, rows 1 to 4 and 14 to 17); logs a warning for anything but a protocol message. */
  recordRefusal({ method = '', target = '', status, reason, detail }: Refusal): void {
    const url = target.replace(/(?:[\w-]|%[\da-f]{2}){16,}/gi, '…'); // masks possible tokens
    const purpose = purposeOf(pathOf(target));
    if (!purpose) {
      this.forwarder.warn(`a request was refused with ${status} (${detail}): ${method} ${url}`, {});
      return;
    }
    const refusal = reason === 'no-route' ? 'wrong-address' : detail;
    this.forwarder.received({ purpose }, { method, url, headers: {} }).answered(status, { refusal });
  }

  /** Forwards an invocation with our callback URL, otherwise unchanged. */
  async #invoke(incoming: Incoming): Promise<Reply> {
    const body = contentOf(incoming);
    const { id, group_id } = fieldsOf(body);
    const thread = nameOf(group_id);
    const key = this.#keys.keyFor(group_id, id);
    const received = new Received(
      this.forwarder,
      incoming,
      { purpose: 'invocation', calls: [key], thread },
      body,
    );
    const callbackUrl = callbackUrlIn(body);
    const objection = callbackUrl === null ? null : this.#objectionTo(callbackUrl);
    if (objection !== null) {
      this.forwarder.warn(objection, received.about);
      return received.answer({ status: 403, body: 'The recorder may not post to this callback_url.\n' });
    }
    try {
      const url = await this.tool.endpoint();
      if (url === null) return received.answer({ status: 502, body: NO_ENDPOINT });
      const call = callbackUrl !== null && { key, thread, callbackUrl, runtimeBase: baseOf(incoming) };
      const onward = call && body ? this.#withOurCallback(body, call) : body;
      return received.passOn({ url, body: onward, origin: this.tool.origin });
    } catch (error) {
      return received.failed(error);
    }
  }

  /** Why we cannot store and call a callback URL; null if we can (threats, row 9). */
  #objectionTo(url: string): string | null {
    if (url.length > MAX_URL_LENGTH) return `the callback URL is longer than ${MAX_URL_LENGTH} characters`;
    return this.allows(url);
  }

  #withOurCallback(body: Content, call: RecordedCall): Content {
    return withString(body, 'callback_url', this.callbackBase() + this.#callbacks.issue(call).path);
  }

  /** Forwards a callback to the runtime's URL; replaces only the address of a question. */
  async #callback(incoming: Incoming): Promise<Reply> {
    const call = this.#callbacks.resolve(pathOf(incoming.target));
    if (!call) return { status: 404 };
    const body = contentOf(incoming);
    const about: About = { purpose: 'callback', calls: [call.key], thread: call.thread };
    const received = new Received(this.forwarder, incoming, about, body);
    return received.passOn({ url: call.callbackUrl, body: body && this.#withOurResponseUrl(body, call) });
  }

  #withOurResponseUrl(body: Content, call: RecordedCall): Content {
    const responseUrl = stringIn(body, 'response_url');
    if (responseUrl === undefined || stringIn(body, 'type') !== 'user_choice') return body;
    if (responseUrl.length > MAX_URL_LENGTH || !this.tool.takesAnswersAt(responseUrl)) {
      this.forwarder.warn(UNRECORDED_ANSWER, { calls: [call.key], thread: call.thread });
      return body;
    }
    const { path } = this.#questions.issue({ call, responseUrl });
    return withString(body, 'response_url', call.runtimeBase + path);
  }

  /** Forwards a selection to the tool's URL (RT-CHOICE). */
  async #choice(incoming: Incoming): Promise<Reply> {
    const question = this.#questions.resolve(pathOf(incoming.target));
    if (!question) return { status: 404 };
    const { call, responseUrl: url } = question;
    const body = contentOf(incoming);
    const about: About = { purpose: 'choice', calls: [call.key], thread: call.thread };
    return new Received(this.forwarder, incoming, about, body).passOn({
      url,
      body,
      origin: this.tool.origin,
    });
  }

  /** Returns the tool's toolset with our endpoint; any other response unchanged (TOOL-DISCOVER). */
  async #discover(incoming: Incoming): Promise<Reply> {
    const received = new Received(this.forwarder, incoming, { purpose: 'discovery' }, undefined);
    try {
      const { headers, gone: signal } = received;
      const answer = await this.tool.discover({ headers, signal });
      const document = new Content(answer.body);
      const isToolset = answer.status === 200 && endpointIn(document) !== null;
      const endpoint = baseOf(incoming) + INVOKE;
      return received.answerAs(answer, isToolset ? withString(document, 'endpoint', endpoint) : undefined);
    } catch (error) {
      return received.failed(error);
    }
  }

  /** Forwards a notice to the tool's base URL, whether or not the tool supports it. */
  async #notice(incoming: Incoming): Promise<Reply> {
    const body = contentOf(incoming);
    const received = new Received(this.forwarder, incoming, this.#aboutNotice(incoming, body), body);
    const { base, origin } = this.tool;
    return received.passOn({ url: base + incoming.target, body, origin });
  }

  #aboutNotice({ target }: Incoming, body: Content | undefined): About {
    const purpose = NOTICES[pathOf(target)] ?? 'close';
    if (purpose === 'migrate') return { purpose, thread: stringIn(body, 'session_id') };
    const thread = stringIn(body, 'thread_id');
    const key = purpose === 'cancel' ? this.#keys.find(thread, stringIn(body, 'tool_call_id')) : undefined;
    return { purpose, thread, calls: key === undefined ? undefined : [key] };
  }
}

const NO_ENDPOINT = "The tool's discovery document names no endpoint.\n";

const UNRECORDED_ANSWER =
  'the response_url is too long, or on another machine than the tool: its answer is not recorded';

function pathOf(target: string): string {
  return target.split('?', 1)[0] ?? target;
}

/** The base URL at which the sender reaches us; the guard has checked `Host`. */
function baseOf({ headers }: Incoming): string {
  return `http://${headers.host}`;
}

/** The callback URL of an invocation; null if it cannot be called. */
function callbackUrlIn(body: Content | undefined): string | null {
  const url = stringIn(body, 'callback_url');
  return url !== undefined && /^https?:$/.test(readUrl(url)?.protocol ?? '') ? url : null;
}

function purposeOf(path: string): RequestEvent['purpose'] | undefined {
  if (path === INVOKE) return 'invocation';
  if (path === DISCOVERY) return 'discovery';
  if (path.startsWith(CALLBACKS)) return 'callback';
  if (path.startsWith(CHOICES)) return 'choice';
  return Object.hasOwn(NOTICES, path) ? NOTICES[path] : undefined;
}

interface RecordedCall {
  /** Call key in events: its id, unless another thread uses that. */
  readonly key: string;
  readonly thread: string | undefined;
  /** The runtime's callback URL (TOOL-OPAQUE). */
  readonly callbackUrl: string;
  /** Our base URL for the runtime. */
  readonly runtimeBase: string;
}

/** Maximum number of remembered calls and questions; the oldest are dropped. */
const REMEMBERED = 50_000;

const MAX_URL_LENGTH = 8 * 1024;

const MAX_NAME_LENGTH = 1024;

/** Returns a value that is short enough to identify a call or a thread; otherwise undefined. */
function nameOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.length <= MAX_NAME_LENGTH ? value : undefined;
}

/** Call keys by thread and id, both of which are foreign: the same call again has the same key. */
class CallKeys {
  readonly #keys = new RecentMap<string, string>(REMEMBERED);
  readonly #taken = new RecentMap<string, true>(REMEMBERED);
  /** Number of calls so far. */
  count = 0;
  #named = 0;

  keyFor(thread: unknown, id: unknown): string {
    const known = this.find(thread, id);
    if (known !== undefined) return known;
    this.count++;
    const own = nameOf(id) || undefined;
    const key = own !== undefined && !this.#taken.get(own) ? own : this.#fresh();
    this.#taken.set(key, true);
    if (typeof id === 'string') this.#keys.set(digestOf(thread, id), key);
    return key;
  }

  find(thread: unknown, id: unknown): string | undefined {
    return typeof id === 'string' ? this.#keys.get(digestOf(thread, id)) : undefined;
  }

  #fresh(): string {
    let key: string;
    do key = `recorded-${++this.#named}`;
    while (this.#taken.get(key));
    return key;
  }
}

/** Limits ids, which may be as long as a message. */
function digestOf(thread: unknown, id: string): string {
  const name = JSON.stringify([typeof thread === 'string' ? thread : null, id]);
  return createHash('sha256').update(name).digest('base64');
}

interface DiscoveryRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export class ToolAddress {
  /** The only origin that receives credentials. */
  readonly origin: string;
  #base: string;
  #endpoint: string | null = null;
  #known = '';
  #finding: Promise<HttpAnswer> | null = null;

  /** @param url http or https */
  constructor(
    private readonly forwarder: Forwarder,
    private readonly url: string,
  ) {
    this.origin = new URL(url).origin;
    this.#base = toolBaseOf(url);
  }

  get base(): string {
    return this.#base;
  }

  /** Whether the tool may receive answers at a URL: at its own origins, or on this machine if the tool runs there too (threats, row 9). */
  takesAnswersAt(url: string): boolean {
    const endpoint = readUrl(this.#endpoint ?? this.url);
    const origins = [this.origin, ...(endpoint ? [endpoint.origin] : [])];
    return allowedDestinations(origins)(url) === null && (!isLocal(url) || isLocal(this.url));
  }

  /** The URL for invocations; null if the discovery document has none. @throws as {@link discover}. */
  async endpoint(): Promise<string | null> {
    if (this.#endpoint === null) await this.#find();
    return this.#endpoint;
  }

  #find(): Promise<HttpAnswer> {
    this.#finding ??= this.discover({ headers: { accept: 'application/json' } }).finally(() => {
      this.#finding = null;
    });
    return this.#finding;
  }

  /**
   * Requests the toolset at the URL, then at its origin. Returns the first 200, otherwise the first response.
   * @throws TransportError without a response; `Unkept`.
   */
  async discover(request: DiscoveryRequest): Promise<HttpAnswer> {
    let first: HttpAnswer | undefined;
    for (const { base, url } of discoveryCandidates(this.url)) {
      const about = { purpose: 'discovery' } as const;
      const answer = await this.forwarder.send(about, { method: 'GET', url, ...request });
      if (answer.status === 200) return this.#learn(base, answer);
      first ??= answer;
    }
    if (first) return first;
    throw new Error('there is always a first candidate');
  }

  /** Reads the endpoint of an invalid toolset too: the recorder does not check messages. */
  async #learn(base: string, answer: HttpAnswer): Promise<HttpAnswer> {
    const document = new Content(answer.body);
    const endpoint = endpointIn(document);
    if (endpoint !== null) [this.#base, this.#endpoint] = [base, endpoint];
    if (document.sha256 === this.#known) return answer;
    this.#known = document.sha256;
    const reading = await readToolset(document.json);
    if (!reading.ok) return answer;
    const { name, tools, ...toolset } = reading.toolset;
    const operations = tools.map(tool => tool.name);
    const loaded = { base, endpoint: toolset.endpoint, toolset: name, operations };
    this.forwarder.log.emit({ kind: 'loaded', ...loaded, ...displayScriptsOf(tools) });
    return answer;
  }
}

function isLocal(url: string): boolean {
  return isLoopback(readUrl(url)?.hostname ?? '');
}

/** The endpoint in a discovery document; null if it cannot be called. */
function endpointIn(document: Content): string | null {
  const endpoint = stringIn(document, 'endpoint');
  return endpoint !== undefined && /^https?:$/.test(readUrl(endpoint)?.protocol ?? '') ? endpoint : null;
}
