import type { RequestEvent } from '../events/events.js';
import type { Log } from '../events/log.js';
import { type Allows, allowedDestinations } from '../http/addresses.js';
import { type HttpClient, lazyClient } from '../http/client.js';
import { SecretPaths } from '../http/node-client.js';
import type { Incoming, Refusal, Reply, Route } from '../http/request-body.js';
import { type RunningServer, startServer } from '../http/server.js';
import { systemClock } from '../system/drafts.js';
import { type Desk, isFromTool, Lanes, recordSide, ToolAddress } from './forward.js';
import {
  CallKeys,
  DEFAULTS,
  Handovers,
  REMEMBERED,
  type RecordedCall,
  type RecorderOptions,
} from './recorded-calls.js';
import {
  CALLBACK_PREFIX,
  CHOICE_PREFIX,
  callbackRoute,
  choiceRoute,
  DISCOVERY_PATH,
  discoveryRoute,
  INVOKE_PATH,
  invocationRoute,
  NOTICES,
  noticeRoute,
  type Office,
  pathOf,
  type RecordedQuestion,
} from './routes.js';

/** Tells of a request that was not passed on, and why (threats, rows 1 to 4 and 14 to 17). What is no message of the protocol is a warning. */
function tellRefused(log: Log, { method = '', target = '', status, reason, detail }: Refusal): void {
  const url = withoutTokens(target);
  const purpose = purposeOf(pathOf(target));
  if (!purpose) {
    const message = `a request was refused with ${status}, since ${detail}: ${method} ${url}`;
    log.emit({ kind: 'warned', message });
    return;
  }
  const hop = isFromTool(purpose) ? 'tool-side' : 'runtime-side';
  const refusal = reason === 'no-route' ? 'wrong-address' : detail;
  recordSide(log, { purpose }, { hop, method, url, headers: {} }).answered(status, { refusal });
}

function purposeOf(path: string): RequestEvent['purpose'] | undefined {
  if (path === INVOKE_PATH) return 'invocation';
  if (path === DISCOVERY_PATH) return 'discovery';
  if (path.startsWith(CALLBACK_PREFIX)) return 'callback';
  if (path.startsWith(CHOICE_PREFIX)) return 'choice';
  return Object.hasOwn(NOTICES, path) ? NOTICES[path] : undefined;
}

/** Almost a token is almost a secret. */
function withoutTokens(target: string): string {
  return target.replace(/(?:[\w-]|%[\da-f]{2}){16,}/gi, '…');
}

/** Routes that know which requests they have not answered yet. */
class UnderWay {
  readonly #replies = new Set<Promise<Reply>>();

  watch(route: Route): Route {
    return { ...route, handle: incoming => this.#note(route, incoming) };
  }

  /** Resolves once every request that has come in so far is over, however. */
  async over(): Promise<void> {
    await Promise.allSettled(this.#replies);
  }

  #note({ handle }: Route, incoming: Incoming): Promise<Reply> {
    const reply = Promise.resolve(handle(incoming));
    this.#replies.add(reply);
    const forget = () => void this.#replies.delete(reply);
    reply.then(forget, forget);
    return reply;
  }
}

export interface Recorder extends AsyncDisposable {
  readonly port: number;
  /** What a runtime is pointed at instead of the tool. */
  readonly url: string;
  /** Asks the tool for its toolset, so that its endpoint is known. False where it gives none yet. */
  findTool(): Promise<boolean>;
  /** Takes nothing new, lets what is on its way finish, then cuts off the rest. */
  close(): Promise<void>;
}

/** How long a message waits for the answer to the one before it in its thread, in ms. */
const LANE_PATIENCE_MS = 100;

/**
 * A proxy between a runtime and a tool: passes on what either says, and tells `log` each message twice, as it was on either side. It
 * never acknowledges, retries or judges by itself: that would hide what it records. What the log cannot keep is answered 503.
 * @throws ProtocolCliError `port-in-use`; `usage` for an address, a host or an origin that is none.
 */
export async function startRecorder(log: Log, options: RecorderOptions): Promise<Recorder> {
  const { drainMs = DEFAULTS.drainMs, clock = systemClock } = options;
  const allows = allowedDestinations(options.allowCallbacks ?? []);
  const client = lazyClient(options.client ?? throughputClient);
  const lanes = new Lanes(clock, LANE_PATIENCE_MS);
  const desk: Desk = { log, client, clock, lanes, handovers: new Handovers() };
  const office = officeOf(desk, allows, options, () => server.url);
  const underWay = new UnderWay();
  const server: RunningServer = await serve(office, options, drainMs, underWay);
  const close = async () => {
    await server.close();
    await client.close();
    await underWay.over();
  };
  const findTool = () =>
    office.tool.endpoint().then(
      endpoint => endpoint !== null,
      () => false,
    );
  return { port: server.port, url: server.url, findTool, close, [Symbol.asyncDispose]: close };
}

async function throughputClient(): Promise<HttpClient> {
  return (await import('../http/pooled-client.js')).createAgentClient();
}

function officeOf(desk: Desk, allows: Allows, options: RecorderOptions, ownBase: () => string): Office {
  return {
    desk,
    allows,
    tool: new ToolAddress(desk, options.url),
    keys: new CallKeys(),
    callbacks: new SecretPaths<RecordedCall>(CALLBACK_PREFIX, REMEMBERED),
    questions: new SecretPaths<RecordedQuestion>(CHOICE_PREFIX, REMEMBERED),
    callbackBase: () => options.callbackBase ?? ownBase(),
  };
}

function serve(
  office: Office,
  { host, port, allowHosts = [], callbackBase, maxBody = DEFAULTS.maxBody }: RecorderOptions,
  closeMs: number,
  underWay: UnderWay,
): Promise<RunningServer> {
  const routes = [invocationRoute, callbackRoute, choiceRoute, discoveryRoute, noticeRoute];
  return startServer({
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    allowedHosts: [...allowHosts, ...(callbackBase ? [new URL(callbackBase).host] : [])],
    maxBody,
    limits: { closeMs },
    routes: routes.map(route => underWay.watch(route(office))),
    onRefused: refusal => tellRefused(office.desk.log, refusal),
  });
}
