import type { Log } from '../exchange/log.js';
import { systemClock } from '../system/clock.js';
import { type Allows, allowedDestinations } from '../transport/allowed-destinations.js';
import type { HttpClient } from '../transport/client.js';
import { lazyClient } from '../transport/lazy-client.js';
import { SecretPaths } from '../transport/secret-paths.js';
import { type RunningServer, startServer } from '../transport/server.js';
import { CallKeys, REMEMBERED, type RecordedCall } from './calls.js';
import type { Desk } from './desk.js';
import { Handovers } from './handovers.js';
import { Lanes } from './lanes.js';
import { DEFAULTS, type RecorderOptions } from './options.js';
import { tellRefused } from './refused.js';
import { CALLBACK_PREFIX, callbackRoute } from './routes/callback.js';
import { CHOICE_PREFIX, choiceRoute } from './routes/choice.js';
import { discoveryRoute } from './routes/discovery.js';
import { invocationRoute } from './routes/invocation.js';
import { noticeRoute } from './routes/notices.js';
import type { Office, RecordedQuestion } from './routes/office.js';
import { ToolAddress } from './tool-address.js';
import { UnderWay } from './under-way.js';

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
  return (await import('../transport/agent-client.js')).createAgentClient();
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
