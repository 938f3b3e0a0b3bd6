import type { Event, EventOf, RequestEvent } from '../events/events.js';
import type { Verdict } from '../events/exchange.js';
import { History } from '../events/history.js';
import { renumbered } from '../events/renumber.js';
import { eventsOnSide, type RoundTrip, roundTripsIn } from '../events/round-trips.js';
import { isWhole, type Observer, type Transcript } from '../events/transcript-reader.js';
import { type ValueChecker, valueChecker } from '../json-schema/validator.js';
import { callNamedIn } from '../protocol/callbacks.js';
import type { Invocation } from '../protocol/invocation.js';
import { readToolset, type ToolsetReading } from '../protocol/read-toolset.js';
import type { Side } from '../protocol/requirements.js';
import { discoveryUrl, type Tool, type Toolset } from '../protocol/toolset.js';
import { groupBy } from '../util/collections.js';
import { stringsIn, valueAt } from '../util/values.js';
import { CallbackEvidence, CallEvidence, Discovery } from './call.js';
import { type ConcernedCall, concernedCall } from './concerned.js';
import { findCrash } from './crash.js';
import { refusedMembersOf } from './members.js';
import { type RequestedCall, RuntimeView } from './runtime-view.js';
import type { SentMessages, ServerEnd, ToolCrash } from './server-end.js';
import { judgeableEvents } from './server-runs.js';

/** A tool server that was asked for its toolset. */
export interface KnownServer {
  readonly base: string;
  readonly discoveries: readonly Discovery[];
  /** Its first valid toolset, which counts for the whole session; null without one. */
  readonly toolset: Toolset | null;
  /** The names of the tools of invalid documents, as far as they can be read; none with a valid one. */
  readonly invalidNames: readonly string[];
}

/** One recording and who made it. */
export interface Recording {
  readonly events: readonly Event[];
  /** Default: a runtime. */
  readonly observer?: Observer;
  /** False if a part of the recording is missing: then missing events prove nothing. Default: true. */
  readonly isWhole?: boolean;
  /** The line of each event in the file, by `seq`. */
  readonly lines?: ReadonlyMap<number, number>;
  /** Whether it is from a file: then no option of a check changes it. */
  readonly isSaved?: boolean;
}

/** The events of a recording, grouped for the rules; the same whether a runtime, a tool, a recorder or a check saw them. */
export interface Evidence
  extends Required<Pick<Recording, 'observer' | 'isWhole'>>,
    Pick<Recording, 'lines'>,
    SentMessages {
  /** Whether a check made calls in it, which violate runtime rules on purpose. */
  readonly isProbed: boolean;
  /** Whether a check made these calls just now, so that another one may make them with other options. */
  readonly isLive: boolean;
  readonly unmatchedCallbacks: readonly CallbackEvidence[];
  /** All plans, also those without a call. */
  readonly plans: readonly EventOf<'planned'>[];
  readonly toolCrash: ToolCrash | null;
  readonly exit: (ServerEnd & { readonly calls: readonly ConcernedCall[] }) | null;
  /** What the driver of a runtime was asked and showed; null without a driver. */
  readonly view: RuntimeView | null;
  /** The calls that a scenario asked for; none without a driver. */
  readonly requestedCalls: readonly RequestedCall[];
  /** By the URL of their discovery. */
  readonly servers: readonly KnownServer[];
  readonly isNameOfOtherCall: NameIndex;
  readonly until: number;
}

/** One recording per transcript, with event numbers that are unique across all of them. */
export function recordingsOf(transcripts: readonly Transcript[]): readonly Recording[] {
  const all = renumbered(transcripts.map(({ events }) => events));
  return transcripts.map((transcript, index) => {
    const events = all[index] ?? [];
    const { header, lines } = transcript;
    const known = lines && new Map(events.map(({ seq }, place) => [seq, lines[place] ?? 0]));
    const about = { observer: header?.observer ?? 'runtime', isWhole: isWhole(transcript) };
    return { events, ...about, isSaved: true, ...(known && { lines: known }) };
  });
}

const HOPS = { tool: 'tool-side', runtime: 'runtime-side' } as const;

/** Groups the events of a recording for the rules of one side; a recorder saw each message on both sides. */
export async function gatherEvidence(recording: Recording, side: Side): Promise<Evidence> {
  const { observer = 'runtime', isWhole: isComplete = true, isSaved = false, lines } = recording;
  // Messages of other protocols have rules of their own.
  const known = eventsOnSide(HOPS[side], recording.events)
    .filter(event => !('dialect' in event && event.dialect !== undefined))
    .map(atRunnableTime);
  const events = side === 'runtime' ? withoutProbes(known) : judgeableEvents(known);
  const trips = [...roundTripsIn(events).values()];
  const byPurpose = groupBy(trips, ({ request }) => [request.purpose]);
  const of = (purpose: RequestEvent['purpose']) => byPurpose.get(purpose) ?? [];
  const discoveries = await readDiscoveries(of('discovery'));
  const calls = groupCalls(events, trips, discoveries);
  const sent = {
    calls,
    discoveries,
    closes: of('close'),
    cancels: of('cancel'),
    migrations: of('migrate'),
  };
  const { toolCrash, exit, cutShort } = findCrash(sent, known, side);
  const unmatchedCallbacks = of('callback')
    .filter(({ request }) => !request.calls?.length)
    .map(trip => new CallbackEvidence(trip, null));
  const refusedMembers = refusedMembersOf(calls);
  const strays = straysByCall(unmatchedCallbacks, calls);
  for (const call of calls) {
    call.argumentFaults = call.tool && (await checkArguments(call.tool, call.invocation?.arguments));
    call.refusedMembers = refusedMembers.get(call) ?? [];
    call.strays = strays.get(call) ?? [];
    call.isCutShort = cutShort.has(call);
  }
  const view = RuntimeView.of(events, calls);
  const servers = serversOf(discoveries);
  return {
    ...sent,
    observer,
    isWhole: isComplete,
    isProbed: known.some(isProbe),
    isLive: known.some(isProbe) && !isSaved,
    unmatchedCallbacks,
    plans: events.filter(event => event.kind === 'planned'),
    toolCrash,
    exit: exit && { ...exit, calls: exit.open.map(call => concernedCall(call, lines)) },
    view,
    requestedCalls: view ? await readRequestedCalls(view, calls, servers) : [],
    servers,
    isNameOfOtherCall: indexNames(calls),
    until: endOf(known),
    ...(lines && { lines }),
  };
}

/** The rules measure the time in which the observer could run: a peer is not slow because its message was read late. */
function atRunnableTime(event: Event): Event {
  return event.stalled === undefined ? event : { ...event, at: event.at - event.stalled };
}

/** A check whose server exited goes on with calls on new servers. */
function endOf(events: readonly Event[]): number {
  const exit = events.some(isProbe) ? events.find(({ kind }) => kind === 'exited') : undefined;
  return (exit ?? events.at(-1))?.at ?? 0;
}

function isProbe(event: Event): boolean {
  return event.kind === 'planned' && event.by === 'probe';
}

/** Removes the events of probes, which violate runtime rules on purpose. */
function withoutProbes(events: readonly Event[]): readonly Event[] {
  const keys = new Set(events.filter(isProbe).flatMap(({ calls = [] }) => calls));
  const isProbed = ({ calls = [] }: Event) => calls.length > 0 && calls.every(key => keys.has(key));
  const threads = new Set(events.filter(isProbed).flatMap(({ thread }) => thread ?? []));
  const isOfProbedThread = ({ calls, thread = '' }: Event) => calls === undefined && threads.has(thread);
  return events.filter(event => !isProbed(event) && !isOfProbedThread(event));
}

const PATH = discoveryUrl('');

function serversOf(discoveries: readonly Discovery[]): readonly KnownServer[] {
  const byUrl = groupBy(discoveries, ({ request }) => [request.url]);
  return [...byUrl].map(([url, own]) => {
    const toolset = own.map(({ reading }) => (reading?.ok ? reading.toolset : null)).find(Boolean) ?? null;
    const invalidNames = toolset ? [] : own.flatMap(namesIn);
    return { base: url.slice(0, url.lastIndexOf(PATH)), discoveries: own, toolset, invalidNames };
  });
}

function namesIn({ response }: Discovery): readonly string[] {
  const json = response?.body?.json;
  const tools = json?.ok ? valueAt(json.value, 'tools') : [];
  return (Array.isArray(tools) ? tools : []).flatMap(tool => stringsIn(valueAt(tool, 'name') ?? []));
}

/** Whether a request went to this server. */
export function isTo({ base }: KnownServer, { request }: Pick<Discovery, 'request'>): boolean {
  return request.url.startsWith(`${base}/`);
}

/** Reads each distinct document once: its schemas are compiled. */
function readDiscoveries(trips: readonly RoundTrip[]): Promise<readonly Discovery[]> {
  const known = new Map<string, Promise<ToolsetReading>>();
  return Promise.all(
    trips.map(async trip => {
      const body = trip.status === 200 ? trip.response?.body : undefined;
      if (!body) return new Discovery(trip, null);
      const reading = known.get(body.sha256) ?? readToolset(body.json);
      known.set(body.sha256, reading);
      return new Discovery(trip, await reading);
    }),
  );
}

/** Each call with its requests, callbacks and other events. */
function groupCalls(
  events: readonly Event[],
  trips: readonly RoundTrip[],
  discoveries: readonly Discovery[],
): readonly CallEvidence[] {
  const closes = trips.filter(({ request }) => request.purpose === 'close');
  const around = {
    verdicts: verdictsOf(events),
    discoveries,
    closesByThread: groupBy(closes, ({ request: { thread } }) => (thread === undefined ? [] : [thread])),
  };
  const eventsByCall = groupBy(events, event => event.calls ?? []);
  const tripsByCall = groupBy(
    trips,
    ({ request: { calls = [], purpose, leg } }) =>
      calls.length === 0 && purpose === 'invocation' ? [leg] : calls, // a malformed invocation counts as a call of its own
  );
  return [...tripsByCall]
    .filter(([, own]) => own.some(({ request }) => request.purpose === 'invocation'))
    .map(([key, own]) => new CallEvidence(key, own, eventsByCall.get(key) ?? [], around));
}

function readRequestedCalls(
  view: RuntimeView,
  calls: readonly CallEvidence[],
  servers: readonly KnownServer[],
): Promise<readonly RequestedCall[]> {
  const offered = servers.flatMap(({ toolset }) => toolset?.tools ?? []);
  return Promise.all(
    view.instructions('invoke').map(async asked => {
      const { operation, arguments: args } = asked.message;
      const tools = offered.filter(({ name }) => name === operation);
      const [tool] = tools;
      return {
        ...asked,
        tools,
        argumentFaults: tool && tools.length === 1 ? await checkArguments(tool, args) : null,
        ...view.outcomeOf(asked, calls),
      };
    }),
  );
}

/** What each callback meant for its call when it came, by request id: the fold may forget it later. */
function verdictsOf(events: readonly Event[]): ReadonlyMap<string, Verdict> {
  const history = new History();
  const verdicts = new Map<string, Verdict>();
  for (const event of events) {
    history.apply(event);
    for (const key of event.calls ?? []) {
      const arrival = history.exchanges.get(key)?.arrivals.at(-1);
      if (arrival && !verdicts.has(arrival.leg)) verdicts.set(arrival.leg, arrival.verdict);
    }
  }
  return verdicts;
}

const checkers = new WeakMap<Tool, Promise<ValueChecker>>();

/** Returns null if the tool's `inputSchema` cannot be used. Compiles each schema once. */
async function checkArguments(tool: Tool, args: unknown): Promise<readonly string[] | null> {
  const checker = checkers.get(tool) ?? valueChecker(tool.inputSchema);
  checkers.set(tool, checker);
  const check = (await checker)(args);
  if (check.kind === 'unusable') {
    const unusable = Promise.resolve(() => check);
    checkers.set(tool, unusable); // a schema that took too long is not tried again for every call
    return null;
  }
  return check.kind === 'valid' ? [] : check.faults.map(({ path, message }) => `${path}: ${message}`);
}

/** A post to a wrong address belongs to the call that it names, in its own thread if several calls have the id. */
function straysByCall(
  unmatched: readonly CallbackEvidence[],
  calls: readonly CallEvidence[],
): ReadonlyMap<CallEvidence, readonly CallbackEvidence[]> {
  return groupBy(
    unmatched.filter(({ isMisdirected }) => isMisdirected),
    stray => {
      const ids = stray.request.body && callNamedIn(stray.request.body.json);
      const named = ids ? calls.filter(({ invocation }) => invocation?.id === ids.id) : [];
      const call = named.find(({ invocation }) => invocation?.group_id === ids?.groupId) ?? named[0];
      return call ? [call] : [];
    },
  );
}

type NameField = 'id' | 'group_id' | 'call_id';

/** Whether a name belongs to another call and not to the given one. */
type NameIndex = (name: NameField, value: string, own: Invocation) => boolean;

function indexNames(calls: readonly CallEvidence[]): NameIndex {
  const known = { id: new Set(), group_id: new Set(), call_id: new Set() };
  for (const { invocation } of calls)
    if (invocation)
      for (const name of ['id', 'group_id', 'call_id'] as const) known[name].add(invocation[name]);
  return (name, value, own) => value !== own[name] && known[name].has(value);
}
