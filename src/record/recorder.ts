import type { CallEndCounts } from '../events/call-ends.js';
import { Content } from '../events/content.js';
import type { Body, RequestEvent } from '../events/events.js';
import type { Log } from '../events/log.js';
import { allowedDestinations, type DestinationCheck } from '../http/addresses.js';
import type { HttpClient } from '../http/client.js';
import { Denial, type Incoming, type Reply, type Route } from '../http/route.js';
import { SecretPaths } from '../http/secret-paths.js';
import { type RunningServer, startServer } from '../http/server.js';
import { callNamedIn, traitsOf } from '../protocol/callbacks.js';
import { NOTICES, type Notice } from '../protocol/invocation.js';
import { DISCOVERY_PATH } from '../protocol/toolset.js';
import { withStringMember } from '../util/json-text.js';
import { LIMITS } from '../util/limits.js';
import { isRecord } from '../util/values.js';
import { Forwarder } from './forwarder.js';
import { httpUrlIn, memberOf, stringIn } from './message-members.js';
import { CallEnds, CallKeys, nameOf } from './recorded-calls.js';
import { ToolAddress } from './tool-address.js';

interface RecorderOptions {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** Host names besides loopback that requests may use. */
  readonly allowHosts: readonly string[];
  /** Origins besides loopback that callbacks may go to. */
  readonly allowCallbacks: readonly string[];
  /** The recorder's address for the tool, without a trailing slash; null for its own address. */
  readonly callbackBase: string | null;
  readonly maxBody: number;
  /** How long to wait at the end for messages in flight, in ms. */
  readonly drainMs: number;
}

interface Recorder extends AsyncDisposable {
  readonly port: number;
  /** The URL to give to the runtime instead of the tool's. */
  readonly url: string;
  /** How the calls recorded so far ended; a call sent again counts once while it is remembered. */
  callEnds(): CallEndCounts;
  /** Requests the toolset of the tool. Returns false if it could not be read. */
  findTool(): Promise<boolean>;
  /** Stops accepting requests, waits for messages in flight, then aborts the rest. */
  close(): Promise<void>;
}

/**
 * A proxy between a runtime and a tool. It sends every message on and records both sides. It never acknowledges, retries or checks a
 * message, because that would hide what it records. A message that cannot be logged is answered with 503.
 * @throws ProtocolCliError `port-in-use`; `usage` for an invalid address, host or origin.
 * @param given default: an HTTP client configured for throughput
 */
export async function startRecorder(
  log: Log,
  { url: toolUrl, host, port, allowHosts, allowCallbacks, callbackBase, maxBody, drainMs }: RecorderOptions,
  given?: HttpClient,
): Promise<Recorder> {
  const client = given ?? (await import('../http/pooled-client.js')).createPooledClient();
  const forwarder = new Forwarder(log, client);
  const tool = new ToolAddress(forwarder, toolUrl);
  const allows = allowedDestinations(allowCallbacks);
  const routes = new RecorderRoutes(forwarder, tool, allows, () => callbackBase ?? server.url);
  const server: RunningServer = await startServer({
    host,
    port,
    maxBody,
    allowedHosts: [...allowHosts, ...(callbackBase ? [new URL(callbackBase).host] : [])],
    limits: { closeMs: drainMs },
    routes: routes.all,
    onRefused: (denial, request) => routes.recordRefusal(denial, request),
  });
  const close = async () => {
    await server.close();
    await client.close();
    await Promise.allSettled(routes.replies);
  };
  const { url } = server;
  return {
    port: server.port,
    url,
    close,
    [Symbol.asyncDispose]: close,
    callEnds: () => routes.ends.counts,
    findTool: async () => (await tool.endpoint().catch(() => null)) !== null,
  };
}

const INVOKE = '/invoke';

const CALLBACKS = '/callback/';

/** How paths begin that a tool may have made of a callback URL. */
const NEAR_CALLBACKS = '/callback';

const CHOICES = '/choices/';

/** What each path of a notice is for. */
const NOTICE_PURPOSES: ReadonlyMap<string, Notice['kind']> = new Map(
  (Object.keys(NOTICES) as Notice['kind'][]).map(kind => [NOTICES[kind].path, kind]),
);

interface RecordedCall {
  /** Call key in events: its id, unless another thread uses that. */
  readonly key: string;
  readonly thread: string | undefined;
  /** The runtime's callback URL (TOOL-OPAQUE). */
  readonly callbackUrl: string;
  /** Our base URL for the runtime. */
  readonly runtimeBase: string;
}

interface RecordedQuestion {
  readonly call: RecordedCall;
  readonly responseUrl: string;
}

type Handle = (incoming: Incoming, body: Body | undefined) => Promise<Reply>;

/** Forwards messages in both directions and replaces the addresses in them with the recorder's. */
class RecorderRoutes {
  /** Replies that are not sent yet. */
  readonly replies = new Set<Promise<Reply>>();
  readonly ends = new CallEnds();
  readonly #keys = new CallKeys();
  readonly #callbacks = new SecretPaths<RecordedCall>(CALLBACKS, LIMITS.callsRemembered.value);
  readonly #questions = new SecretPaths<RecordedQuestion>(CHOICES, LIMITS.callsRemembered.value);

  /** @param callbackBase our base URL for the tool */
  constructor(
    private readonly forwarder: Forwarder,
    private readonly tool: ToolAddress,
    private readonly allows: DestinationCheck,
    private readonly callbackBase: () => string,
  ) {}

  get all(): Route[] {
    const routes = this.#routes;
    return [...routes, this.#elsewhere(path => !routes.some(({ serves }) => serves(path)))];
  }

  get #routes(): Route[] {
    const post = (name: string, serves: Route['serves'], handle: Handle): Route => ({
      name,
      serves,
      method: 'POST',
      accepts: 'anything',
      handle: (incoming, bytes) => this.#replyOf(handle, incoming, bytes),
    });
    return [
      post(
        'invocation',
        path => path === INVOKE,
        (incoming, body) => this.#invoke(incoming, body),
      ),
      post(
        'callback',
        path => this.#callbacks.resolve(path) !== undefined,
        (incoming, body) => this.#callback(incoming, body),
      ),
      post(
        'choice',
        path => this.#questions.resolve(path) !== undefined,
        (incoming, body) => this.#choice(incoming, body),
      ),
      {
        ...post(
          'discovery',
          path => path === DISCOVERY_PATH,
          incoming => this.#discover(incoming),
        ),
        method: 'GET',
        accepts: 'nothing',
      },
      post(
        'notice',
        path => NOTICE_PURPOSES.has(path),
        (incoming, body) => this.#notice(incoming, body),
      ),
    ];
  }

  #replyOf(handle: Handle, incoming: Incoming, bytes: Uint8Array): Promise<Reply> {
    const body = bytes.length > 0 ? new Content(bytes) : undefined;
    const reply = handle(incoming, body);
    this.replies.add(reply);
    const forget = () => void this.replies.delete(reply);
    reply.then(forget, forget);
    return reply;
  }

  /**
   * Answers what no other route serves, as the guard would. It reads the body, since a tool that posts a callback to a wrong address would
   * otherwise seem silent. The callback belongs to no call, whatever it names, so it has no effect (threats, row 1).
   */
  #elsewhere(serves: Route['serves']): Route {
    return {
      name: 'elsewhere',
      method: 'any',
      accepts: 'anything',
      serves,
      handle: (incoming, bytes) => {
        const body = new Content(bytes);
        const isCallback = incoming.method === 'POST' && traitsOf(body.messageType) !== undefined;
        const denial = Denial.noRoute();
        const ids = isCallback ? callNamedIn(body.json) : null;
        const key = ids && this.#keys.find(ids.groupId, ids.id);
        if (key) this.ends.add(key, 'wrong-address');
        this.recordRefusal(denial, incoming, isCallback ? body : undefined);
        return { status: denial.status };
      },
    };
  }

  /**
   * Records a refused request (threats, rows 1 to 4 and 14 to 17); logs a warning for anything but a protocol message.
   * @param callback its body, if it is a callback
   */
  recordRefusal({ status, detail, refusal }: Denial, request: Incoming, callback?: Body): void {
    const url = request.maskedTarget;
    const purpose = callback ? 'callback' : purposeOf(request.path);
    if (!purpose) {
      this.forwarder.warn(`a request was refused with ${status} (${detail}): ${request.method} ${url}`);
      return;
    }
    const parts = { url, ...(callback ? { body: callback } : { headers: {} }) };
    this.forwarder.record(request, { purpose }, parts).recordResponse(status, { refusal });
  }

  /** Forwards an invocation with our callback URL, otherwise unchanged. */
  async #invoke(incoming: Incoming, body: Body | undefined): Promise<Reply> {
    const [id, group] = [memberOf(body, 'id'), memberOf(body, 'group_id')];
    const thread = nameOf(group);
    const key = this.#keys.keyFor(group, id);
    const received = this.forwarder.receive(incoming, { purpose: 'invocation', calls: [key], thread }, body);
    this.ends.add(key, 'unacknowledged');
    const callbackUrl = httpUrlIn(body, 'callback_url');
    const objection = callbackUrl === null ? null : this.#objectionTo(callbackUrl);
    if (objection !== null) {
      this.forwarder.warn(objection, received.about);
      return received.answer({ status: 403, body: 'The recorder may not post to this callback_url.\n' });
    }
    try {
      const url = await this.tool.endpoint();
      if (url === null) return received.answer({ status: 502, body: NO_ENDPOINT });
      const call = callbackUrl !== null && { key, thread, callbackUrl, runtimeBase: incoming.base };
      const onward =
        call && body
          ? withString(body, 'callback_url', this.callbackBase() + this.#callbacks.issue(call).path)
          : body;
      const reply = await received.passOn(url, onward, this.tool.origin);
      if (reply !== 'reset' && reply.status === 200) this.ends.add(key, 'silent');
      return reply;
    } catch (error) {
      return received.failed(error);
    }
  }

  /** Why we cannot store and call a callback URL; null if we can (threats, row 9). */
  #objectionTo(url: string): string | null {
    if (url.length > LIMITS.urlChars.value)
      return `the callback URL is longer than ${LIMITS.urlChars.value} characters`;
    return this.allows(url);
  }

  /** Forwards a callback to the runtime's URL; replaces only the address of a question. */
  async #callback(incoming: Incoming, body: Body | undefined): Promise<Reply> {
    const call = this.#callbacks.resolve(incoming.path);
    if (!call) return { status: 404 };
    const { key, thread, callbackUrl: url } = call;
    const received = this.forwarder.receive(incoming, { purpose: 'callback', calls: [key], thread }, body);
    const reply = await received.passOn(url, body && this.#withOurResponseUrl(body, call));
    const isRefused = reply !== 'reset' && reply.status >= 400;
    const result = isRefused ? 'refused' : 'result';
    this.ends.add(key, body?.messageType === 'tool_result' ? result : 'unfinished');
    return reply;
  }

  #withOurResponseUrl(body: Body, call: RecordedCall): Body {
    const responseUrl = stringIn(body, 'response_url');
    if (responseUrl === undefined || stringIn(body, 'type') !== 'user_choice') return body;
    if (responseUrl.length > LIMITS.urlChars.value || !this.tool.takesAnswersAt(responseUrl)) {
      this.forwarder.warn(UNRECORDED_ANSWER, { calls: [call.key], thread: call.thread });
      return body;
    }
    const { path } = this.#questions.issue({ call, responseUrl });
    return withString(body, 'response_url', call.runtimeBase + path);
  }

  /** Forwards a selection to the tool's URL (RT-CHOICE). */
  async #choice(incoming: Incoming, body: Body | undefined): Promise<Reply> {
    const question = this.#questions.resolve(incoming.path);
    if (!question) return { status: 404 };
    const { call, responseUrl: url } = question;
    const { key, thread } = call;
    return this.forwarder
      .receive(incoming, { purpose: 'choice', calls: [key], thread }, body)
      .passOn(url, body, this.tool.origin);
  }

  /** Returns the tool's toolset with our endpoint; any other response unchanged (TOOL-DISCOVER). */
  async #discover(incoming: Incoming): Promise<Reply> {
    const received = this.forwarder.receive(incoming, { purpose: 'discovery' });
    try {
      const { headers, gone: signal } = received;
      const answer = await this.tool.discover({ headers, signal });
      const document = new Content(answer.body);
      const isToolset = answer.status === 200 && httpUrlIn(document, 'endpoint') !== null;
      const endpoint = incoming.base + INVOKE;
      return received.answerAs(answer, isToolset ? withString(document, 'endpoint', endpoint) : undefined);
    } catch (error) {
      return received.failed(error);
    }
  }

  /** Forwards a notice to the tool's base URL, whether or not the tool supports it. */
  async #notice(incoming: Incoming, body: Body | undefined): Promise<Reply> {
    const purpose = NOTICE_PURPOSES.get(incoming.path) ?? 'close';
    const thread = stringIn(body, purpose === 'migrate' ? 'session_id' : 'thread_id');
    const key = purpose === 'cancel' && this.#keys.find(thread, memberOf(body, 'tool_call_id'));
    if (key) this.ends.add(key, 'canceled');
    const about = { purpose, thread, calls: key ? [key] : undefined };
    const { base, origin } = this.tool;
    return this.forwarder.receive(incoming, about, body).passOn(base + incoming.target, body, origin);
  }
}

const NO_ENDPOINT = "The tool's discovery document names no endpoint.\n";

const UNRECORDED_ANSWER =
  'the response_url is too long, or on another machine than the tool: its answer is not recorded';

function purposeOf(path: string): RequestEvent['purpose'] | undefined {
  if (path === INVOKE) return 'invocation';
  if (path === DISCOVERY_PATH) return 'discovery';
  if (path.startsWith(NEAR_CALLBACKS)) return 'callback';
  if (path.startsWith(CHOICES)) return 'choice';
  return NOTICE_PURPOSES.get(path);
}

/** Replaces a string member of a JSON object and leaves all other bytes unchanged. */
function withString(body: Body, name: string, value: string): Body {
  const { json, text } = body;
  if (!json.ok || !isRecord(json.value) || text === null) return body;
  const bytes = Buffer.from(withStringMember(text, name, value));
  return Content.withJson(bytes, { ...json, value: { ...json.value, [name]: value } });
}
