import { Content } from '../events/content.js';
import type { Body, RequestEvent, ResponseEvent } from '../events/events.js';
import type { Exchange, Verdict, VerdictKind } from '../events/exchange.js';
import type { History } from '../events/history.js';
import { idOf, rejection } from '../events/judge-callback.js';
import { type Log, ServedRequest } from '../events/log.js';
import { type Answer, Denial, type Incoming, type Reply, type Route } from '../http/route.js';
import { SecretPaths } from '../http/secret-paths.js';
import { type RunningServer, startServer } from '../http/server.js';
import { type Callback, readCallback, traitsOf } from '../protocol/callbacks.js';
import type { WebhookJudge, WebhookVerdict } from '../protocol/webhook-signature.js';
import type { Clock } from '../system/clock.js';
import { RecentMap } from '../util/collections.js';
import { redactHeaders } from '../util/headers.js';
import { LIMITS } from '../util/limits.js';

/** Where the listener listens, and its address for the tool. */
export interface ListenerOptions {
  readonly host: string;
  readonly port: number;
  /** Base URL for the tool, without a trailing slash; default: the listener's own. */
  readonly publicUrl?: string | undefined;
  readonly allowedHosts: readonly string[];
  readonly maxBody: number;
  /** Whether the bytes of callbacks are kept; false saves memory. By default a callback is read only if it is judged. */
  readonly keepBodies?: boolean;
  /** Which media types are accepted; default: JSON. */
  readonly accepts?: 'json' | 'anything';
}

/** The call that a callback concerns, as far as it is known, and the body as far as it was read. */
type Concerns = Partial<Pick<RequestEvent, 'calls' | 'thread' | 'body' | 'url'>>;

export function recordCallback(log: Log, incoming: Incoming, concerns: Concerns): ServedRequest {
  return new ServedRequest(log, incoming, { from: 'tool', to: 'runtime', purpose: 'callback', ...concerns });
}

/** Answers for the tool's log; they repeat nothing from the request (threats, row 28). */
const EXPLANATIONS: Partial<Record<VerdictKind, string>> = {
  rejected: 'Invalid callback: the body does not match the schema of its type.\n',
  discarded: 'This callback matches no pending call: its group_id and id must be those of the invocation.\n',
};

/** The verdict of the history on a recorded callback. @param exchange as it is after the request event */
export function verdictOn({ leg }: ServedRequest, exchange: Exchange | undefined): Verdict {
  const arrival = exchange?.arrivals.findLast(each => each.leg === leg);
  if (!arrival) throw new Error('the history must be subscribed to the log before the listener starts');
  return arrival.verdict;
}

/**
 * Answers a recorded callback by its verdict, or with 503 if it could not be stored.
 * @param ready the answer waits for this
 */
export async function answerCallback(
  log: Log,
  recorded: ServedRequest,
  verdict: Verdict,
  { ready = null, refusal }: { readonly ready?: Promise<void> | null; readonly refusal?: string } = {},
): Promise<Answer> {
  const status = await log.statusOnceStored(verdict.status);
  await ready;
  const body = status === verdict.status ? EXPLANATIONS[verdict.kind] : undefined;
  return recorded.answer(status, body === undefined ? {} : { body }, { refusal });
}

/** Receives what is sent to a secret address. */
interface Receiver {
  /** The keys of the calls that a refused POST concerns. */
  readonly calls: readonly string[];
  receive(incoming: Incoming, body: Body): Promise<Reply>;
}

/** Serves secret addresses: guard, token, body, then the receiver (threats, rows 1–8). */
export class CallbackServer {
  private constructor(
    readonly server: RunningServer,
    private readonly receivers: SecretPaths<Receiver>,
    private readonly base: string,
  ) {}

  /**
   * @param isTold whether to record one more refused POST, with so many bytes; default: always
   * @param findsChanged whether to recognise callbacks whose URL the tool changed: by the token, whatever follows it in the path, and
   *   otherwise by their bodies, which are recorded
   * @throws ProtocolCliError `port-in-use`.
   */
  static async start(
    log: Log,
    { host, port, publicUrl, allowedHosts, maxBody, keepBodies, accepts = 'json' }: ListenerOptions,
    {
      isTold = () => true,
      findsChanged = false,
    }: { isTold?: (size: number) => boolean; findsChanged?: boolean } = {},
  ): Promise<CallbackServer> {
    const receivers = new SecretPaths<Receiver>('/callback/');
    const receiverOf = (path: string) => {
      const address = findsChanged ? /^\/callback\/[\w-]{43}/.exec(path)?.[0] : undefined;
      return receivers.resolve(address ?? path);
    };
    const recordRefusal = ({ status, refusal }: Denial, request: Incoming, body?: Body) => {
      if (!isTold(body?.size ?? 0)) return;
      const receiver = receiverOf(request.path);
      const url = receiver ? request.target : request.maskedTarget;
      const concerns = receiver?.calls.length ? { calls: [...receiver.calls], url } : { url };
      recordCallback(log, request, { ...concerns, ...(body && { body }) }).recordResponse(status, {
        refusal,
      });
    };
    const elsewhere: Route = {
      name: 'elsewhere',
      method: 'any',
      accepts: 'anything',
      serves: path => receiverOf(path) === undefined,
      handle: async (incoming, bytes) => {
        const body = new Content(bytes);
        const isCallback = incoming.method === 'POST' && traitsOf(body.messageType) !== undefined;
        const denial = Denial.noRoute();
        recordRefusal(denial, incoming, isCallback ? body : undefined);
        return { status: denial.status };
      },
    };
    const server = await startServer({
      host,
      port,
      allowedHosts: [...allowedHosts, ...(publicUrl ? [new URL(publicUrl).host] : [])],
      maxBody,
      routes: [
        {
          name: 'callback',
          method: 'POST',
          serves: path => receiverOf(path) !== undefined,
          accepts,
          handle: (incoming, bytes) => {
            const read = keepBodies ? Content.keepingText : Content.withoutBytes;
            const body = keepBodies === undefined ? new Content(bytes) : read(bytes);
            return receiverOf(incoming.path)?.receive(incoming, body) ?? { status: 404 };
          },
        },
        ...(findsChanged ? [elsewhere] : []),
      ],
      onRefused: recordRefusal,
    });
    return new CallbackServer(server, receivers, publicUrl ?? server.url);
  }

  /** Creates an address for the tool; `token` is the secret part of its URL. */
  issue(receiver: Receiver): { readonly url: string; readonly token: string } {
    const { token, path } = this.receivers.issue(receiver);
    return { url: this.base + path, token };
  }
}

/** The ids by which a callback names its call. */
export interface CallIds {
  readonly groupId: string;
  readonly id: string;
}

/** The verdict on a callback that cannot belong to a call. */
const WITHOUT_IDS = { kind: 'discarded', status: 404, reason: 'its group_id or its id is empty' } as const;

/** Shown for fields of another program's call that its callbacks do not contain. */
const UNKNOWN = '(unknown)';

/** A webhook that arrived, and the verdict on it. */
export interface JudgedWebhook {
  readonly at: number;
  readonly type: string;
  readonly status: number;
  readonly body: Body;
  readonly verdict: WebhookVerdict;
}

/** Judges what arrives as webhooks, by their signatures. */
interface Signatures {
  readonly judge: WebhookJudge;
  readonly clock: Pick<Clock, 'wall'>;
}

/**
 * Receives the callbacks of another program's calls at one address, and assigns each to the call that it names: an expected one or,
 * without any, every call that is named.
 */
export class OpenListener {
  readonly #expected = new Set<string>();
  readonly #webhooks = new RecentMap<string, Omit<JudgedWebhook, 'at'>>(LIMITS.connections.value);
  /** The callback URL for tools; `token` is its secret part. */
  readonly callbackUrl: string;
  readonly token: string;

  private constructor(
    private readonly log: Log,
    private readonly history: History,
    private readonly callbacks: CallbackServer,
    signatures: Signatures | null,
  ) {
    const receive: Receiver['receive'] = signatures
      ? (...request) => this.#receiveWebhook(signatures, ...request)
      : (...request) => this.#receive(...request);
    const { url, token } = callbacks.issue({ calls: [], receive });
    this.callbackUrl = url;
    this.token = token;
  }

  /**
   * @param history must be subscribed to `log`
   * @param signatures judges webhooks instead of callbacks, whose bodies must be kept
   * @throws ProtocolCliError `port-in-use`.
   */
  static async start(
    log: Log,
    history: History,
    options: ListenerOptions,
    signatures: Signatures | null = null,
  ): Promise<OpenListener> {
    return new OpenListener(log, history, await CallbackServer.start(log, options), signatures);
  }

  /** The webhook that was answered by this event; null for other events. */
  webhookOf({ leg, at }: Pick<ResponseEvent, 'leg' | 'at'>): JudgedWebhook | null {
    const webhook = this.#webhooks.get(leg);
    this.#webhooks.delete(leg);
    return webhook ? { ...webhook, at } : null;
  }

  /** Restricts the calls to expected ones, and adds this one. */
  expect(ids: CallIds): void {
    this.#expected.add(this.#begin(ids));
  }

  get server(): RunningServer {
    return this.callbacks.server;
  }

  get expected(): ReadonlySet<string> {
    return this.#expected;
  }

  async #receive(incoming: Incoming, body: Body): Promise<Answer> {
    const { log, history } = this;
    const reading = readCallback(body.json);
    const key = reading.ok ? this.#keyOf(reading.message) : this.#only();
    const exchange = key === undefined ? undefined : history.exchanges.get(key);
    if (exchange) {
      const { key, invocation } = exchange;
      const recorded = recordCallback(log, incoming, { calls: [key], thread: invocation.group_id, body });
      return answerCallback(log, recorded, verdictOn(recorded, history.exchanges.get(key)));
    }
    const verdict = reading.ok ? WITHOUT_IDS : rejection(reading.faults);
    const recorded = recordCallback(log, incoming, { body });
    return answerCallback(log, recorded, verdict, { refusal: verdict.reason });
  }

  /** Answers a webhook with 200, or with 401 if it is not genuine. Its headers are not logged: they may be credentials. */
  async #receiveWebhook({ judge, clock }: Signatures, incoming: Incoming, body: Body): Promise<Answer> {
    const { log } = this;
    const { headers } = incoming;
    const json = body.json.ok ? body.json.value : undefined;
    const verdict = judge.judge({ headers, body: body.bytes, json }, clock.wall());
    const about = { from: 'platform', to: 'client', purpose: 'webhook' } as const;
    const recorded = new ServedRequest(log, incoming, { ...about, headers: redactHeaders(headers), body });
    const { problem } = verdict;
    const status = await log.statusOnceStored(problem === null ? 200 : 401);
    const type = body.messageType ?? headers['x-github-event'] ?? 'webhook';
    this.#webhooks.set(recorded.leg, { type, status, body, verdict });
    if (problem === null) return recorded.answer(status);
    return recorded.answer(status, { body: `Refused: ${problem}.\n` }, { refusal: problem });
  }

  #keyOf(message: Callback): string {
    const { group_id: groupId } = message;
    const { exchanges, threads } = this.history;
    const id = idOf(message);
    // A view belongs to its thread alone and is shown with the thread's latest call.
    const known =
      id === undefined
        ? threads.get(groupId)?.calls.findLast(key => exchanges.has(key))
        : JSON.stringify([groupId, id]);
    if (known !== undefined && exchanges.has(known)) return known;
    // An unexpected callback is compared with a call of its thread, or with the first expected call.
    const expected = [...this.#expected];
    const nearest = expected.find(key => exchanges.get(key)?.invocation.group_id === groupId) ?? expected[0];
    return nearest ?? this.#begin({ groupId, id: id ?? UNKNOWN });
  }

  #begin({ groupId, id }: CallIds): string {
    const key = JSON.stringify([groupId, id]);
    const call = { operation: UNKNOWN, arguments: {}, id, callback_url: this.callbackUrl, group_id: groupId };
    this.log.emit({ kind: 'expected', calls: [key], thread: groupId, body: Content.ofJson(call) });
    return key;
  }

  #only(): string | undefined {
    const [key] = this.#expected;
    return this.#expected.size === 1 ? key : undefined;
  }
}
