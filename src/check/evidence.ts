import type { Event, EventOf, RequestEvent } from '../events/events.js';
import { renumbered } from '../events/renumber.js';
import { eventsOnSide, roundTripsIn } from '../events/round-trips.js';
import { isWhole, type Observer, type Transcript } from '../events/transcript-reader.js';
import { type ValueChecker, valueChecker } from '../json-schema/validator.js';
import { callNamedIn } from '../protocol/callbacks.js';
import type { Invocation } from '../protocol/invocation.js';
import type { Side } from '../protocol/requirements.js';
import type { Tool } from '../protocol/toolset.js';
import { groupBy } from '../util/collections.js';
import { type CallEvidence, callEvidence } from './call.js';
import { CallbackEvidence } from './callback-evidence.js';
import { type ConcernedCall, concernedCall } from './concerned.js';
import { findCrash } from './crash.js';
import { type KnownServer, readDiscoveries, serversOf } from './discovery.js';
import { DriverEvidence, type RequestedCall } from './driver-evidence.js';
import { refusedMembersOf } from './members.js';
import { type RecordedCall, recordedCallsIn } from './recorded-call.js';
import type { SentMessages, ServerEnd, ToolCrash } from './server-end.js';
import { judgeableEvents } from './server-runs.js';

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
  readonly calls: readonly CallEvidence[];
  /** Whether a check made calls in it, which violate runtime rules on purpose. */
  readonly isProbed: boolean;
  /** Whether a check made these calls just now, so that another one may make them with other options. */
  readonly isLive: boolean;
  readonly unmatchedCallbacks: readonly CallbackEvidence[];
  /** Posts to a wrong address that name no call. */
  readonly unnamedStrays: readonly CallbackEvidence[];
  /** All plans, also those without a call. */
  readonly plans: readonly EventOf<'planned'>[];
  readonly toolCrash: ToolCrash | null;
  readonly exit: (ServerEnd & { readonly calls: readonly ConcernedCall[] }) | null;
  /** What the driver of a runtime was asked and showed; null without a driver. */
  readonly driver: DriverEvidence | null;
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
  const sent = {
    calls: recordedCallsIn(events, trips, discoveries),
    discoveries,
    closes: of('close'),
    cancels: of('cancel'),
    migrations: of('migrate'),
  };
  const { toolCrash, exit, interruptedCalls } = findCrash(sent, known, side);
  const unmatchedCallbacks = of('callback')
    .filter(({ request }) => !request.calls?.length)
    .map(trip => new CallbackEvidence(trip, null));
  const calls = await judgedCalls(sent.calls, unmatchedCallbacks, interruptedCalls);
  const namedStrays = new Set(calls.flatMap(({ strays }) => strays));
  const driver = DriverEvidence.of(events, calls);
  const servers = serversOf(discoveries);
  return {
    ...sent,
    calls,
    observer,
    isWhole: isComplete,
    isProbed: known.some(isProbe),
    isLive: known.some(isProbe) && !isSaved,
    unmatchedCallbacks,
    unnamedStrays: unmatchedCallbacks.filter(post => post.isMisdirected && !namedStrays.has(post)),
    plans: events.filter(event => event.kind === 'planned'),
    toolCrash,
    exit: exit && { ...exit, calls: exit.open.map(call => concernedCall(call, lines)) },
    driver,
    requestedCalls: driver ? await readRequestedCalls(driver, calls, servers) : [],
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

async function judgedCalls(
  calls: readonly RecordedCall[],
  unmatched: readonly CallbackEvidence[],
  interruptedCalls: ReadonlySet<RecordedCall>,
): Promise<readonly CallEvidence[]> {
  const refusedMembers = refusedMembersOf(calls);
  const strays = straysByCall(unmatched, calls);
  const judged: CallEvidence[] = [];
  for (const call of calls) {
    const { tool, invocation } = call;
    judged.push(
      callEvidence(call, {
        argumentFaults: tool && (await checkArguments(tool, invocation?.arguments)),
        refusedMembers: refusedMembers.get(call) ?? [],
        strays: strays.get(call) ?? [],
        isInterrupted: interruptedCalls.has(call),
      }),
    );
  }
  return judged;
}

function readRequestedCalls(
  driver: DriverEvidence,
  calls: readonly CallEvidence[],
  servers: readonly KnownServer[],
): Promise<readonly RequestedCall[]> {
  const offered = servers.flatMap(({ toolset }) => toolset?.tools ?? []);
  return Promise.all(
    driver.instructions('invoke').map(async asked => {
      const { operation, arguments: args } = asked.message;
      const tools = offered.filter(({ name }) => name === operation);
      const [tool] = tools;
      return {
        ...asked,
        tools,
        argumentFaults: tool && tools.length === 1 ? await checkArguments(tool, args) : null,
        ...driver.outcomeOf(asked, calls),
      };
    }),
  );
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
  calls: readonly RecordedCall[],
): ReadonlyMap<RecordedCall, readonly CallbackEvidence[]> {
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

function indexNames(calls: readonly RecordedCall[]): NameIndex {
  const known = { id: new Set(), group_id: new Set(), call_id: new Set() };
  for (const { invocation } of calls)
    if (invocation)
      for (const name of ['id', 'group_id', 'call_id'] as const) known[name].add(invocation[name]);
  return (name, value, own) => value !== own[name] && known[name].has(value);
}
