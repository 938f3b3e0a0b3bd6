import type { RequestEvent, ResponseEvent } from '../events/events.js';
import type { ToolResult } from '../protocol/callbacks/tool-result.js';
import { llmText, outcomeOfText } from '../protocol/outcome.js';
import { addresseeIn, type Invocation } from '../protocol/read-invocation.js';
import type { RequirementId } from '../protocol/requirements.js';
import { credentialsIn, isCredentialHeader } from '../util/credentials.js';
import { isRecord } from '../util/json-diagnosis.js';
import { REDACTED } from '../util/redact.js';
import { stringsIn } from '../util/strings-in.js';
import {
  type CallbackEvidence,
  type CallEvidence,
  type Culprit,
  type Discovery,
  type Evidence,
  eventsOf,
  type Leg,
  statusOf,
  toldAs,
  toolsetsAt,
  typeIn,
  vainWait,
} from './evidence.js';
import { fatal, lacking, type Observation, type Spot } from './judge.js';

/** The place at which a call was first not wanted any more: cancelled, or its thread closed; endless where it never was. */
export function calledOffAt({ cancels, closes, decisions }: CallEvidence): number {
  const places = [
    ...[...cancels, ...closes].map(({ request }) => request.seq),
    ...decisions.flatMap(({ what, seq }) => (what === 'cancel' ? [seq] : [])),
  ];
  return places.reduce((first, place) => Math.min(first, place), Number.POSITIVE_INFINITY);
}

/** A longer text is hardly a complaint. */
const LONGEST = 4_000;

const WORDS =
  /\b(?:error|exception|invalid|unknown|unsupported|unrecogni[sz]ed|unexpected|malformed|missing|required?|must|cannot|can't|could not|couldn't|fail(?:s|ed|ure)?|not (?:found|valid|known|supported|allowed|available|defined|an?|implemented)|no such|does not|doesn't|refused|rejected|denied)\b/i;

/** Whether a result complains, without the words of the convention. What it repeats of the call is not its own. */
function soundsLikeError(text: string, { reading }: Pick<CallEvidence, 'reading'>): boolean {
  if (text.length > LONGEST) return false;
  const { operation = '', arguments: args = {} } = reading.ok ? reading.invocation : {};
  return WORDS.test(withoutAll(text, [operation, ...stringsIn(args)]));
}

function withoutAll(text: string, words: readonly string[]): string {
  return words.filter(word => word.length > 2).reduce((rest, word) => rest.replaceAll(word, ' '), text);
}

/** What a call came to, as far as it was seen. */
export type Ending =
  /** `isError`: by convention, or it reads like one. */
  | {
      readonly kind: 'result';
      readonly callback: CallbackEvidence;
      readonly text: string;
      readonly isError: boolean;
    }
  /** It waits for a person. */
  | { readonly kind: 'asked'; readonly callback: CallbackEvidence }
  | { readonly kind: 'refused'; readonly attempt: Leg; readonly status: number }
  /** A callback came, but is invalid. */
  | { readonly kind: 'unreadable'; readonly callback: CallbackEvidence }
  /** Nothing came in time. */
  | { readonly kind: 'silent'; readonly afterMs: number }
  /** The call was canceled, or its thread closed. */
  | { readonly kind: 'called-off' }
  /** `cut-short`: its tool died of something else. */
  | { readonly kind: 'unanswered' | 'open' | 'cut-short' };

export function endingOf(call: CallEvidence): Ending {
  return resulted(call) ?? turnedAway(call) ?? wentAstray(call) ?? absence(call);
}

function resulted(call: CallEvidence): Ending | null {
  const [first] = toldAs(call, 'tool_result');
  if (!first || isAfterVainWait(first.callback, call)) return null;
  const text = llmText(first.message);
  const isError = outcomeOfText(text).type !== 'success' || soundsLikeError(text, call);
  return { kind: 'result', callback: first.callback, text, isError };
}

/** Whether the callback came after a timeout and a cancel, which explain it. */
function isAfterVainWait({ request }: CallbackEvidence, call: CallEvidence): boolean {
  const wait = vainWait(call);
  const end = calledOffAt(call);
  return wait !== undefined && wait.seq < end && end < request.seq;
}

function turnedAway({ attempts }: CallEvidence): Ending | null {
  const attempt = attempts.findLast(each => statusOf(each) !== null);
  const status = attempt ? statusOf(attempt) : null;
  return attempt && status !== null && status !== 200 ? { kind: 'refused', attempt, status } : null;
}

/** A question may be one that breaks its schema: that is another matter. */
function wentAstray({ callbacks }: CallEvidence): Ending | null {
  const question = callbacks.find(each => ['oauth', 'user_choice'].includes(typeIn(each) ?? ''));
  if (question) return { kind: 'asked', callback: question };
  const unreadable = callbacks.find(({ reading }) => reading?.ok !== true);
  return unreadable ? { kind: 'unreadable', callback: unreadable } : null;
}

function absence(call: CallEvidence): Ending {
  const wait = vainWait(call);
  if (calledOffAt(call) < (wait?.seq ?? Number.POSITIVE_INFINITY)) return { kind: 'called-off' };
  if (!call.attempts.some(each => statusOf(each) === 200)) return { kind: 'unanswered' };
  if (call.isCutShort) return { kind: 'cut-short' };
  return wait ? { kind: 'silent', afterMs: wait.afterMs } : { kind: 'open' };
}

/** Given up by us, at once or when our time was over; cut by whoever was asked; `failed`: nobody reached, or nothing that can be read. */
type Break = 'called-off' | 'timed-out' | 'cut' | 'failed';

/** How a request ended that was not answered; null where it did not break. */
export function breakOf({ broken }: Pick<Leg, 'broken'>): Break | null {
  if (!broken) return null;
  if (broken.code === 'ABORTED') return 'called-off';
  if (TIMED_OUT.test(broken.code)) return 'timed-out';
  return CUT.has(broken.code) && broken.phase !== 'connect' ? 'cut' : 'failed';
}

const TIMED_OUT = /^(?:ETIMEDOUT|UND_ERR_[A-Z]+_TIMEOUT)$/;
/** Only these codes show that the other side closed the connection. */
const CUT: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE']);

/** Everything that was asked of the tool, in order. */
function requestsOf({
  calls,
  discoveries,
  closes,
  cancels,
  migrations,
}: Pick<Evidence, 'calls' | 'discoveries' | 'closes' | 'cancels' | 'migrations'>): readonly Leg[] {
  const all = [
    ...calls.flatMap(({ attempts, selections }) => [...attempts, ...selections]),
    ...discoveries,
    ...closes,
    ...cancels,
    ...migrations,
  ];
  return all.sort((one, other) => one.request.seq - other.request.seq);
}

/** A tool that became unreachable. */
interface Gone {
  /** The place of the last request that was answered, or that may have been. */
  readonly alive: number;
  /** The requests since then, each of which broke; at least one. */
  readonly since: readonly Leg[];
}

/** Null where the last request was answered, or was given up by us. */
export function goneIn(evidence: Parameters<typeof requestsOf>[0]): Gone | null {
  const requests = requestsOf(evidence);
  const last = requests.findLastIndex(leg => [null, 'called-off'].includes(breakOf(leg)));
  const since = requests.slice(last + 1);
  return since.length > 0 ? { alive: requests[last]?.request.seq ?? -1, since } : null;
}

const OF_A_NAME = /^\$\.tools\[\d+\]\.name: /;

/** What is wrong with a document, or worth a warning, of the names of its tools and of everything else. */
interface ToolsetFaults {
  readonly names: readonly string[];
  readonly rest: readonly string[];
}

export function toolsetFaults({ reading }: Discovery): ToolsetFaults {
  return parted(reading && !reading.ok ? reading.faults : []);
}

export function toolsetNotes({ reading }: Discovery): ToolsetFaults {
  return parted(reading?.ok ? reading.notes : []);
}

function parted(faults: readonly string[]): ToolsetFaults {
  return {
    names: faults.filter(fault => OF_A_NAME.test(fault)),
    rest: faults.filter(fault => !OF_A_NAME.test(fault)),
  };
}

/** Whether a message had a body that the recording does not have. */
export function isBodyLost(event: RequestEvent | ResponseEvent): boolean {
  if (event.body) return false;
  return 'body' in event || Number(event.headers['content-length'] ?? 0) > 0;
}

/** A text in a message, and where it stands: `text`, `display_as[0].content.patch`. */
interface TextAt {
  readonly place: string;
  /** The same, step by step. */
  readonly path: Spot['path'];
  readonly text: string;
}

/** Members without text for a model or a person. */
const UNSAID = new Set(['type', 'group_id', 'id', 'call_id', 'tool_call_id', 'auth_url', 'response_url']);

export function textsOf({ reading }: CallbackEvidence): readonly TextAt[] {
  const message = reading?.ok && isRecord(reading.native) ? reading.native : {};
  return Object.entries(message).flatMap(([name, value]) => (UNSAID.has(name) ? [] : textsIn(value, [name])));
}

function textsIn(value: unknown, path: Spot['path']): TextAt[] {
  if (typeof value === 'string') return [{ place: placeOf(path), path, text: value }];
  if (Array.isArray(value)) return value.flatMap((item, index) => textsIn(item, [...path, index]));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    isPicture(name, value) ? [] : textsIn(member, [...path, name]),
  );
}

function placeOf(path: Spot['path']): string {
  return path
    .map(step => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .slice(1);
}

function isPicture(name: string, item: Readonly<Record<string, unknown>>): boolean {
  return name === 'data' && 'mediaType' in item;
}

/** Why a tool must not execute a call. */
type Unacceptable = 'malformed' | 'unknown-operation' | 'bad-arguments';

/** Null where nothing is known against it. */
export function unacceptable(
  { reading, tool, argumentFaults, attempts }: CallEvidence,
  { discoveries }: Pick<Evidence, 'discoveries'>,
): Unacceptable | null {
  if (!reading.ok) return 'malformed';
  if (tool) return (argumentFaults ?? []).length > 0 ? 'bad-arguments' : null;
  const isToolsetKnown = toolsetsAt(discoveries, attempts[0]?.request.at ?? 0).length > 0;
  return isToolsetKnown ? 'unknown-operation' : null;
}

/** What a call and everything about it is named by. */
export type Name = 'id' | 'group_id' | 'call_id';

/** Which names are in use, and by which calls. */
export interface Names {
  /** Whether a name is another call's, and not this one's. */
  isOthers(name: Name, value: string, own: Invocation): boolean;
}

export function namesOf(calls: readonly CallEvidence[]): Names {
  const known = { id: new Set(), group_id: new Set(), call_id: new Set() };
  for (const { reading } of calls)
    if (reading.ok)
      for (const name of ['id', 'group_id', 'call_id'] as const) known[name].add(reading.invocation[name]);
  return { isOthers: (name, value, own) => value !== own[name] && known[name].has(value) };
}

export function isResult({ reading }: CallbackEvidence): boolean {
  return reading?.ok === true && reading.message.type === 'tool_result';
}

/** Every text of a call except its callback URL, which is secret. A result may repeat these texts. */
export function saidBy({ attempts }: Pick<CallEvidence, 'attempts'>): readonly string[] {
  const json = attempts[0]?.request.body?.json;
  if (!json?.ok) return [];
  if (!isRecord(json.value)) return stringsIn(json.value);
  const { callback_url: _, ...said } = json.value;
  return stringsIn(said);
}

/** Shorter ones may be words. */
const SHORTEST = 16;

/** A secret that a call was given, and what it is. */
interface Given {
  readonly what: string;
  readonly secret: string;
}

/** What was found, and where: the first character, and the one after the last. */
interface FoundSecret {
  readonly what: string;
  readonly range: readonly [from: number, to: number];
}

/** Looks for the secrets of one call, and for whatever looks like one, in a text; tells what and where it is, never the secret. */
export function secretFinder(call: CallEvidence): (text: string) => FoundSecret | null {
  const given = [...ofCallbackUrl(call), ...ofHeaders(call)];
  const said = saidBy(call);
  return text => {
    const known = given.find(({ secret }) => text.includes(secret) && !isSaid(said, secret));
    if (known) return foundAt(known.what, known.secret, text.indexOf(known.secret));
    const leaked = credentialsIn(text).find(found => !isSaid(said, found.text));
    return leaked ? foundAt(leaked.what, leaked.text, leaked.at) : null;
  };
}

function foundAt(what: string, secret: string, at: number): FoundSecret {
  return { what, range: [at, at + secret.length] };
}

/** Whether the call itself contains the text. */
function isSaid(said: readonly string[], secret: string): boolean {
  return said.some(text => text.includes(secret));
}

/** Its long words: short ones are names of paths. */
function ofCallbackUrl({ reading }: CallEvidence): readonly Given[] {
  const addressee = addresseeIn(reading);
  if (!addressee) return [];
  const { callback_url: url, id, group_id, call_id } = addressee;
  const words = url.replace(/^https?:\/\/[^/?#]*/i, '').split(/[/?#&=]/);
  const tokens = words.filter(word => word.length >= SHORTEST && ![id, group_id, call_id].includes(word));
  return [
    { what: 'the callback URL', secret: url },
    ...tokens.map(secret => ({ what: "the callback URL's token", secret })),
  ];
}

/** Of a header with such a name, the value without its scheme. */
function ofHeaders({ attempts }: CallEvidence): readonly Given[] {
  const headers = attempts.flatMap(({ request }) => Object.entries(request.headers));
  return headers
    .filter(([name, value]) => isCredentialHeader(name) && value !== REDACTED)
    .map(([name, value]) => ({ what: `the value of the header ${name}`, secret: value.replace(/^\w+ /, '') }))
    .filter(({ secret }) => secret.length >= SHORTEST);
}

type Segments = NonNullable<ToolResult['display_as']>;

/** A result, and how it wants to be shown. */
export interface Display {
  readonly callback: CallbackEvidence;
  readonly segments: Segments;
}

/** Every result with a `display_as`. */
export function displaysOf({ calls }: Pick<Evidence, 'calls'>): readonly Display[] {
  return calls.flatMap(call =>
    toldAs(call, 'tool_result').flatMap(({ callback, message: { display_as: segments } }) =>
      segments && segments.length > 0 ? [{ callback, segments }] : [],
    ),
  );
}

/** Requirements that are judged by what comes back of a call: where nothing does, or nothing that can be read, none of them can be seen. */
export const OF_CALLBACKS: readonly RequirementId[] = [
  'TOOL-POST',
  'TOOL-GROUP',
  'TOOL-ID',
  'TOOL-CALLID',
  'TOOL-ONCE',
  'TOOL-ISOLATE',
  'TOOL-OPAQUE',
  'TOOL-VALIDATE',
  'TOOL-UNKNOWN-OP',
  'TOOL-BAD-ARGS',
  'TOOL-MALFORMED',
  'TOOL-EXTRA',
  'TOOL-ERRPREFIX',
  'TOOL-SECRET',
  'TOOL-NOLEAK',
  'TOOL-RETRY',
  'TOOL-NORETRY',
];

/** Requirements that are judged by calls: of a toolset that is not valid nothing may be called (RT-TOOLSET). */
export const OF_CALLS: readonly RequirementId[] = [
  'TOOL-ACK',
  'TOOL-ASYNC',
  'TOOL-ALWAYS',
  ...OF_CALLBACKS,
  'TOOL-MIGRATE',
];

/**
 * That the tool died of a message of this kind; null where it did not. A check asks for more at once, so it was this message; elsewhere
 * somebody may have stopped the tool, unless it has cut the connection itself.
 * @param story what the message is: `a malformed payload`
 */
export function onDeath({ death, isProbed }: Evidence, kind: Culprit, story: string): Observation | null {
  if (death?.kind !== kind) return null;
  const { message, later, others } = death;
  const code = message.broken && kind !== 'callback' ? ` (${message.broken.code})` : '';
  const more = others > 0 ? `; ${others} more had been sent by then` : '';
  const what = `the tool stopped responding after ${story}${code}${more}`;
  const end = lacking(what, [message, later], { about: eventsOf(message) });
  return isProbed || breakOf(message) === 'cut' ? fatal(end) : end;
}
