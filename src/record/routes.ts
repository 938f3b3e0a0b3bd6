import type { IncomingHttpHeaders } from 'node:http';
import { Content } from '../events/content.js';
import type { RequestEvent } from '../events/events.js';
import type { RecordedRequest } from '../events/record-request.js';
import type { Allows } from '../http/addresses.js';
import { type HttpAnswer, TransportError } from '../http/client.js';
import type { SecretPaths } from '../http/node-client.js';
import type { Answer, Incoming, Reply, Route } from '../http/request-body.js';
import { isPlainHeader } from '../util/redact.js';
import { readUrl } from '../util/strings.js';
import {
  type Desk,
  endpointIn,
  fieldsOf,
  isFromTool,
  laneTo,
  type Matter,
  type Place,
  partiesOf,
  recordSide,
  responseOf,
  sendOn,
  stringIn,
  type ToolAddress,
  Unkept,
  withString,
} from './forward.js';
import { type CallKeys, LONGEST_URL, nameOf, type RecordedCall } from './recorded-calls.js';

type Headers = Readonly<Record<string, string>>;

/** Of one connection (RFC 9110, 7.6.1), or made anew for each; of encodings we ask for none (threats, row 16). */
const OURS = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'origin',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Names in lower case, each once. */
function flatHeaders(headers: IncomingHttpHeaders): Headers {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

/** What of a message's headers is the sender's word, and goes on with it. */
export function passedHeaders(headers: Headers): Headers {
  const named = (headers['connection'] ?? '').toLowerCase().split(/\s*,\s*/);
  return without(headers, name => OURS.has(name) || named.includes(name));
}

/** What may be a credential was given for one origin, and goes to no other (threats, row 12). `withheld` names what does not go. */
export function headersFor(url: string, origin: string, headers: Headers) {
  const isOwn = URL.canParse(url) && new URL(url).origin === origin;
  const withheld = isOwn ? [] : Object.keys(headers).filter(name => !isPlainHeader(name));
  return { headers: without(headers, name => withheld.includes(name)), withheld };
}

function without(headers: Headers, isLeftOut: (name: string) => boolean): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !isLeftOut(name)));
}

/** A message that came in, told as it was; whoever waits for its answer may go away meanwhile. */
class Arrival {
  readonly #recorded: RecordedRequest;
  readonly #place: Place | null;
  readonly #desk: Desk;
  readonly #gone = new AbortController();
  #isOver = false;

  /** @param body as it came; undefined where there is none */
  constructor(
    desk: Desk,
    readonly incoming: Incoming,
    readonly matter: Matter,
    readonly body: Content | undefined,
  ) {
    const { method, target: url, headers } = incoming;
    const isTools = isFromTool(matter.purpose);
    const hop = isTools ? 'tool-side' : 'runtime-side';
    this.#recorded = recordSide(desk.log, matter, { hop, method, url, headers: flatHeaders(headers), body });
    const lane = laneTo(partiesOf(matter.purpose).to, matter);
    this.#place = lane === null ? null : desk.lanes.enter(lane);
    this.#desk = desk;
    incoming.onGone?.(() => {
      this.broken('ECONNRESET');
      this.#gone.abort();
    });
  }

  /** Resolves when it may go on: after what came before it, and after the answers that its sender has given. */
  async turn(): Promise<void> {
    const { handovers } = this.#desk;
    const lane = laneTo(partiesOf(this.matter.purpose).to, this.matter);
    await this.#place?.turn;
    if (lane !== null) await handovers.over(lane);
  }

  /** Aborted where nobody waits for the answer any more. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** @param told what is told of the answer's body, where that is not the body itself */
  answer(answer: Answer, told?: Content): Answer {
    const { status, headers = {}, body } = answer;
    const content = told ?? (typeof body === 'string' ? new Content(Buffer.from(body)) : undefined);
    this.#end(() => this.#recorded.answered(status, { headers: { ...headers }, body: content }));
    const lane = laneTo(partiesOf(this.matter.purpose).from, this.matter);
    return lane === null ? answer : { ...answer, sent: this.#desk.handovers.begin(lane) };
  }

  broken(code: string): 'reset' {
    this.#end(() => this.#recorded.broken('answer', code));
    return 'reset';
  }

  #end(tell: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    tell();
    this.#place?.leave();
  }
}

/** The bytes of a message; undefined where there are none. */
function contentOf({ body }: Pick<Incoming, 'body'>): Content | undefined {
  return body.length > 0 ? new Content(body) : undefined;
}

/** Where a message goes on to, and with which bytes. */
interface Goal {
  readonly url: string;
  readonly body: Content | undefined;
  /** The origin its headers are meant for; any where there is none. */
  readonly origin?: string;
}

/**
 * Sends a message that came in on in its turn, and answers it as it is answered: neither retried nor judged.
 */
async function passOn(desk: Desk, arrival: Arrival, { url, body, origin }: Goal): Promise<Reply> {
  const { matter, incoming, gone } = arrival;
  const passed = passedHeaders(flatHeaders(incoming.headers));
  const { headers, withheld } = origin === undefined ? noneWithheld(passed) : headersFor(url, origin, passed);
  if (withheld.length > 0) tellWithheld(desk, arrival, withheld);
  await arrival.turn();
  try {
    return answerAs(
      arrival,
      await sendOn(desk, matter, { method: 'POST', url, headers, body, signal: gone }),
    );
  } catch (error) {
    return failed(arrival, error);
  }
}

/** The answer that came, as an answer of ours. */
function answerAs(arrival: Arrival, answer: HttpAnswer, body: Content | undefined = undefined): Reply {
  const { status, headers } = answer;
  const told = body ?? responseOf(answer).body;
  return arrival.answer({ status, headers: passedHeaders(headers), body: body?.bytes ?? answer.body }, told);
}

/** No answer came: a broken connection breaks ours; for the rest there is a status. Nothing foreign is repeated (threats, row 28). */
function failed(arrival: Arrival, error: unknown): Reply {
  if (error instanceof Unkept)
    return arrival.answer({ status: 503, body: 'The recorder could not write its transcript.\n' });
  if (!(error instanceof TransportError)) throw error;
  const { phase, code } = error;
  const isBrokenOff = code === 'ECONNRESET' && (phase === 'send' || phase === 'answer');
  const isCalledOff = code === 'ABORTED'; // nobody waits for it any more
  if (isBrokenOff || isCalledOff) return arrival.broken('ECONNRESET');
  const whom = isFromTool(arrival.matter.purpose) ? 'runtime' : 'tool';
  return arrival.answer({ status: 502, body: `The recorder got no answer from the ${whom}: ${code}.\n` });
}

const noneWithheld = (headers: Readonly<Record<string, string>>) => ({ headers, withheld: [] });

function tellWithheld({ log }: Desk, { matter }: Arrival, withheld: readonly string[]): void {
  const message = `withheld from another origin than the tool's: ${withheld.join(', ')}`;
  log.emit({ kind: 'warned', message, calls: matter.calls, thread: matter.thread });
}

/** A question that a tool asked, and where its answer goes on to. */
export interface RecordedQuestion {
  readonly call: RecordedCall;
  readonly responseUrl: string;
}

/** What the routes of a recorder share. */
export interface Office {
  readonly desk: Desk;
  readonly tool: ToolAddress;
  readonly keys: CallKeys;
  readonly callbacks: SecretPaths<RecordedCall>;
  readonly questions: SecretPaths<RecordedQuestion>;
  readonly allows: Allows;
  /** Our base URL as the tool reaches us. */
  readonly callbackBase: () => string;
}

/** Our base URL as whoever sent this reaches us: the guard has judged its Host. */
function baseFor({ headers }: { readonly headers: { readonly host?: string | undefined } }): string {
  return `http://${headers.host}`;
}

/** A path without its query. */
export function pathOf(target: string): string {
  return target.split('?', 1)[0] ?? target;
}

export const CALLBACK_PREFIX = '/callback/';

/** Callbacks go on to where the runtime wanted them, whatever they say; only the address of a question is replaced by one of ours. */
export function callbackRoute(office: Office): Route {
  return {
    name: 'callback',
    method: 'POST',
    accepts: 'anything',
    serves: path => office.callbacks.resolve(path) !== undefined,
    handle: incoming => receive(office, incoming),
  };
}

async function receive(office: Office, incoming: Incoming): Promise<Reply> {
  const call = office.callbacks.resolve(pathOf(incoming.target));
  if (!call) return { status: 404 };
  const { key, thread, callbackUrl } = call;
  const body = contentOf(incoming);
  const arrival = new Arrival(office.desk, incoming, { purpose: 'callback', calls: [key], thread }, body);
  return passOn(office.desk, arrival, { url: callbackUrl, body: redirected(office, call, body) });
}

/** With an address of ours for the answer, where it is a question. */
function redirected(office: Office, call: RecordedCall, body: Content | undefined): Content | undefined {
  const responseUrl = stringIn(body, 'response_url');
  if (!body || responseUrl === undefined || stringIn(body, 'type') !== 'user_choice') return body;
  if (responseUrl.length > LONGEST_URL || !office.tool.takesAnswersAt(responseUrl))
    return tellLeft(office, call, body);
  const { path } = office.questions.issue({ call, responseUrl });
  return withString(body, 'response_url', call.runtimeBase + path);
}

/** The runtime may judge otherwise. */
function tellLeft({ desk }: Office, { key, thread }: RecordedCall, body: Content): Content {
  const message =
    'the response_url is too long, or on another machine than the tool: its answer is not recorded';
  desk.log.emit({ kind: 'warned', message, calls: [key], thread });
  return body;
}

export const CHOICE_PREFIX = '/choices/';

/** What the user picked goes on to where the tool asked (RT-CHOICE). */
export function choiceRoute(office: Office): Route {
  return {
    name: 'choice',
    method: 'POST',
    accepts: 'anything',
    serves: path => office.questions.resolve(path) !== undefined,
    handle: incoming => choiceReceive(office, incoming),
  };
}

async function choiceReceive({ desk, tool, questions }: Office, incoming: Incoming): Promise<Reply> {
  const question = questions.resolve(pathOf(incoming.target));
  if (!question) return { status: 404 };
  const { call, responseUrl: url } = question;
  const body = contentOf(incoming);
  const arrival = new Arrival(
    desk,
    incoming,
    { purpose: 'choice', calls: [call.key], thread: call.thread },
    body,
  );
  return passOn(desk, arrival, { url, body, origin: tool.origin });
}

export const INVOKE_PATH = '/invoke';

/** Invocations go on with a callback URL of ours, and are the same otherwise, whatever they are. */
export function invocationRoute(office: Office): Route {
  return {
    name: 'invocation',
    method: 'POST',
    accepts: 'anything',
    serves: path => path === INVOKE_PATH,
    handle: incoming => invocationReceive(office, incoming),
  };
}

async function invocationReceive(office: Office, incoming: Incoming): Promise<Reply> {
  const { desk, tool, keys } = office;
  const body = contentOf(incoming);
  const { id, group_id } = fieldsOf(body);
  const thread = nameOf(group_id);
  const key = keys.keyFor(group_id, id);
  const arrival = new Arrival(desk, incoming, { purpose: 'invocation', calls: [key], thread }, body);
  const why = objectionTo(office, body);
  if (why !== null) return refuse(office, arrival, why);
  const endpoint = await endpointFor(office, arrival);
  if (endpoint === null) return arrival.answer({ status: 502, body: NO_ENDPOINT });
  if (typeof endpoint !== 'string') return endpoint.failure;
  const onward = invocationRedirected(office, body, { key, thread, runtimeBase: baseFor(incoming) });
  return passOn(desk, arrival, { url: endpoint, body: onward, origin: tool.origin });
}

const NO_ENDPOINT = "The tool's discovery document names no endpoint.\n";

/** The callback URL of an invocation, if that is one that could be called at all. */
function callbackUrlIn(body: Content | undefined): string | null {
  const url = stringIn(body, 'callback_url');
  return url !== undefined && /^https?:$/.test(readUrl(url)?.protocol ?? '') ? url : null;
}

/** We would have to remember it, for as many calls as there are, and to post there (threats, row 9). */
function objectionTo({ allows }: Office, body: Content | undefined): string | null {
  const url = callbackUrlIn(body);
  if (url === null) return null;
  return url.length > LONGEST_URL ? `the callback URL is longer than ${LONGEST_URL} characters` : allows(url);
}

/** A call whose callbacks could never go on is better not made. */
function refuse({ desk }: Office, arrival: Arrival, why: string): Reply {
  const { calls, thread } = arrival.matter;
  desk.log.emit({ kind: 'warned', message: why, calls, thread });
  return arrival.answer({ status: 403, body: 'The recorder may not post to this callback_url.\n' });
}

/** @returns where the tool takes invocations; null where it does not say; how it failed to. */
async function endpointFor({ tool }: Office, arrival: Arrival): Promise<string | null | { failure: Reply }> {
  try {
    return await tool.endpoint();
  } catch (error) {
    return { failure: failed(arrival, error) };
  }
}

interface Caller {
  readonly key: string;
  readonly thread: string | undefined;
  readonly runtimeBase: string;
}

/** With a callback URL of ours, which stands for the one there was; what has none goes on as it came. */
function invocationRedirected(
  { callbacks, callbackBase }: Office,
  body: Content | undefined,
  caller: Caller,
) {
  const callbackUrl = callbackUrlIn(body);
  if (!body || callbackUrl === null) return body;
  const { path } = callbacks.issue({ ...caller, callbackUrl });
  return withString(body, 'callback_url', callbackBase() + path);
}

export const DISCOVERY_PATH = '/.well-known/rap-toolset';

/** The tool's own toolset, with our endpoint in it; whatever else it answers is passed on as it is (TOOL-DISCOVER). */
export function discoveryRoute({ desk, tool }: Office): Route {
  const handle = async (incoming: Incoming): Promise<Reply> => {
    const arrival = new Arrival(desk, incoming, { purpose: 'discovery' }, undefined);
    try {
      const headers = passedHeaders(flatHeaders(incoming.headers));
      const answer = await tool.ask({ headers, signal: arrival.gone });
      const document = new Content(answer.body);
      const isToolset = answer.status === 200 && endpointIn(document) !== null;
      const endpoint = baseFor(incoming) + INVOKE_PATH;
      return answerAs(arrival, answer, isToolset ? withString(document, 'endpoint', endpoint) : undefined);
    } catch (error) {
      return failed(arrival, error);
    }
  };
  return {
    name: 'discovery',
    method: 'GET',
    accepts: 'nothing',
    serves: path => path === DISCOVERY_PATH,
    handle,
  };
}

/** What a runtime says to a server rather than to an operation, by its path (protocol, section 1). */
export const NOTICES: Readonly<Record<string, RequestEvent['purpose']>> = {
  '/cancel_tool_call': 'cancel',
  '/close_thread': 'close',
  '/migrate': 'migrate',
};

/** Notices go on to the tool's base, whether or not it knows them. */
export function noticeRoute(office: Office): Route {
  return {
    name: 'notice',
    method: 'POST',
    accepts: 'anything',
    serves: path => Object.hasOwn(NOTICES, path),
    handle: incoming => noticesReceive(office, incoming),
  };
}

async function noticesReceive(office: Office, incoming: Incoming): Promise<Reply> {
  const { desk, tool } = office;
  const body = contentOf(incoming);
  const arrival = new Arrival(desk, incoming, matterOf(office, incoming, body), body);
  return passOn(desk, arrival, { url: tool.base + incoming.target, body, origin: tool.origin });
}

function matterOf({ keys }: Office, { target }: Incoming, body: Arrival['body']): Matter {
  const purpose = NOTICES[pathOf(target)] ?? 'close';
  if (purpose === 'migrate') return { purpose, thread: stringIn(body, 'session_id') };
  const thread = stringIn(body, 'thread_id');
  const key = purpose === 'cancel' ? keys.find(thread, stringIn(body, 'tool_call_id')) : undefined;
  return { purpose, thread, calls: key === undefined ? undefined : [key] };
}
