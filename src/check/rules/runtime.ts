import { isSame } from '../../events/tool-call.js';
import type { Invocation } from '../../protocol/read-invocation.js';
import { cancelToolCallSchema, closeThreadSchema } from '../../protocol/toolset.js';
import { validate } from '../../protocol/validate.js';
import { excerpt } from '../../util/excerpt.js';
import { formatDuration } from '../../util/format-duration.js';
import { mediaTypeOf, readUrl } from '../../util/strings.js';
import {
  type CallEvidence,
  type Discovery,
  type Evidence,
  endedAt,
  isFailedForNow,
  isRefused,
  type Leg,
  statusOf,
  toolsetsAt,
} from '../evidence.js';
import { isBodyLost, isResult } from '../evidence-queries.js';
import { broken, doubtful, held, lacking, type Observation, type Rule, sent, unseen } from '../judge.js';
import { withFaults } from './discovery.js';
import {
  acceptsDuplicates,
  keepsAsking,
  keepsNoConsentUrl,
  matchesResults,
  postsSelections,
  takesViews,
  tracksSubscriptions,
  validatesCallbacks,
} from './runtime-callbacks.js';

/** RT-ARGS: what is dispatched is valid against its tool's `inputSchema`. */
const validatesArguments: Rule = {
  id: 'RT-ARGS',
  absent: 'no arguments could be checked against an inputSchema',
  observe: ({ calls }: Evidence) => calls.flatMap(onCall),
};

function onCall({ argumentFaults, attempts, tool }: CallEvidence): Observation[] {
  if (argumentFaults === null || !tool) return [];
  const first = attempts.slice(0, 1);
  const spots = first.map(attempt => sent(attempt, 'arguments'));
  if (argumentFaults.length === 0) return [held(first)];
  return [
    broken(`the arguments do not match the inputSchema of ${tool.name}: ${argumentFaults[0]}`, first, {
      spots,
    }),
  ];
}

/** RT-FIELDS: a POST of JSON with all required fields and a reachable callback URL. */
const sendsAllFields: Rule = {
  id: 'RT-FIELDS',
  masks: ['RT-OP', 'RT-ARGS'],
  absent: 'no invocation was sent',
  observe: ({ calls }: Evidence) => calls.flatMap(fieldsOnCall),
};

function fieldsOnCall(call: CallEvidence): Observation[] {
  const [first] = call.attempts;
  if (!first) return [];
  if (isBodyLost(first.request)) return [unseen('the body of an invocation was not recorded', [first])];
  const fault = faultOfRequest(first) ?? faultOfBody(call);
  if (fault !== null) return [broken(fault, [first])];
  const { reading } = call;
  if (reading.ok && reading.invocation.thread_ancestors?.length === 0)
    return [doubtful('thread_ancestors is empty; a root thread leaves it out', [first])];
  return [isUnreachable(call) ? lacking(UNREACHABLE, [first, ...call.callbacks]) : held([first])];
}

const UNREACHABLE = 'nothing listened at the callback_url: no callback could connect to it';

function faultOfRequest({ request: { method, headers } }: Leg): string | null {
  if (method !== 'POST') return `the invocation is a ${method}, not a POST`;
  const type = headers['content-type'];
  if (type === undefined) return 'the invocation has no Content-Type';
  return mediaTypeOf(type) === 'application/json' ? null : `the Content-Type is not application/json`;
}

function faultOfBody({ reading }: CallEvidence): string | null {
  if (!reading.ok) return `the invocation is malformed: ${reading.faults[0]}`;
  return faultOfUrl(reading.invocation) ?? faultOfAncestors(reading.invocation);
}

function faultOfUrl({ callback_url }: Invocation): string | null {
  const url = readUrl(callback_url);
  if (url === null) return 'callback_url is not a valid URL';
  return /^https?:$/.test(url.protocol) ? null : 'callback_url is neither http nor https';
}

function faultOfAncestors({ thread_ancestors, group_id }: Invocation): string | null {
  return thread_ancestors?.includes(group_id) ? 'thread_ancestors names the thread itself' : null;
}

/** It was tried, and never once could anybody connect. */
function isUnreachable({ callbacks }: CallEvidence): boolean {
  return (
    callbacks.length > 0 && callbacks.every(leg => statusOf(leg) === null && leg.broken?.phase === 'connect')
  );
}

/** RT-ID: an id stands for one call of its thread; the same call may be sent again. */
const usesFreshIds: Rule = {
  id: 'RT-ID',
  absent: 'no invocation was sent',
  observe: ({ calls }: Evidence) => {
    const firsts = new Map<string, CallEvidence>();
    return calls.flatMap(call => freshIdOnCall(call, firsts));
  },
};

function freshIdOnCall(call: CallEvidence, firsts: Map<string, CallEvidence>): Observation[] {
  if (!call.reading.ok) return [];
  const { id, group_id } = call.reading.invocation;
  const name = JSON.stringify([group_id, id]);
  const before = firsts.get(name);
  if (!before) firsts.set(name, call);
  const proof = [...(before?.attempts.slice(0, 1) ?? []), ...call.attempts];
  if (isOneCall(proof)) return [held(call.attempts)];
  return [broken(`the id ${excerpt(id)} was used for two calls of its thread`, proof)];
}

function isOneCall([first, ...others]: CallEvidence['attempts']): boolean {
  return others.every(({ request }) => isSame(request.body ?? null, first?.request.body ?? null));
}

/** RT-NORETRY: an invocation that was answered 4xx is not sent again. */
const neverRetriesRefusals: Rule = {
  id: 'RT-NORETRY',
  absent: 'no invocation was answered 4xx',
  observe: ({ calls, until }: Evidence) => calls.flatMap(call => noRetryOnCall(call, until)),
};

function noRetryOnCall({ attempts }: CallEvidence, until: number): Observation[] {
  const at = attempts.findIndex(isRefused);
  const refused = attempts[at];
  if (!refused) return [];
  const next = attempts[at + 1];
  if (next) return [broken(`sent again after a ${statusOf(refused)}`, [refused, next])];
  return [held([refused], `not within ${formatDuration(until - (endedAt(refused) ?? until))}`)];
}

/** RT-NOTIFY: a notice has the right fields, is sent once, and not again where it failed. */
const notifiesOnce: Rule = {
  id: 'RT-NOTIFY',
  absent: 'no notice was sent',
  observe: ({ closes, cancels }: Evidence) => {
    const failed = new Map<string, Leg>();
    return [
      ...closes.map(notice => faultOf(notice, 'close_thread', closeThreadSchema) ?? onNotice(notice, failed)),
      ...cancels.map(
        notice => faultOf(notice, 'cancel_tool_call', cancelToolCallSchema) ?? onNotice(notice, failed),
      ),
    ];
  },
};

type NoticeSchema = typeof closeThreadSchema | typeof cancelToolCallSchema;

/** What is wrong with a notice itself; null where nothing is. */
function faultOf(notice: Leg, name: string, schema: NoticeSchema): Observation | null {
  const { request } = notice;
  if (request.method !== 'POST')
    return broken(`a ${name} notice is a ${excerpt(request.method)}, not a POST`, [notice]);
  if (isBodyLost(request)) return null;
  const read = validate(schema, request.body?.json.ok ? request.body.json.value : undefined);
  const tell = request.body ? broken : lacking;
  return read.ok ? null : tell(`the fields of a ${name} notice are wrong`, [notice], withFaults(read.faults));
}

/** @param failures the first notice that failed, by where it went and what it says */
function onNotice(notice: Leg, failures: Map<string, Leg>): Observation {
  const { url, body } = notice.request;
  const name = `${url} ${body?.sha256 ?? ''}`;
  const failed = failures.get(name);
  if (!failed) {
    if (statusOf(notice) !== 200) failures.set(name, notice);
    return held([notice]);
  }
  const tell = endedAt(failed) === null ? lacking : broken;
  return tell('a notice that failed was sent again', [failed, notice]);
}

/** RT-OP: what is dispatched is in a toolset that was loaded before. */
const dispatchesLoadedOperations: Rule = {
  id: 'RT-OP',
  absent: 'no invocation came after a toolset was loaded',
  observe: ({ calls, discoveries }: Evidence) =>
    calls.flatMap(call => {
      const [first] = call.attempts;
      if (!first || toolsetsAt(discoveries, first.request.at).length === 0) return [];
      return operationOnCall(call);
    }),
};

function operationOnCall({ reading, tool, attempts }: CallEvidence): Observation[] {
  if (!reading.ok) return [];
  const { operation } = reading.invocation;
  const first = attempts.slice(0, 1);
  const spots = first.map(attempt => sent(attempt, 'operation'));
  return [tool ? held(first) : lacking(`${excerpt(operation)} is not in a loaded toolset`, first, { spots })];
}

/** RT-NON200: only a runtime's own transcript tells what it made of an acknowledgement that is not 200. */
const failsOnOtherAcknowledgements: Rule = {
  id: 'RT-NON200',
  absent: 'not recorded by a runtime, or every acknowledgement was 200',
  observe: ({ calls, observer }: Evidence) =>
    observer === 'runtime' ? calls.flatMap(otherAcknowledgementOnCall) : [],
};

function otherAcknowledgementOnCall({
  attempts,
  callbacks,
  decisions,
  expiries,
}: CallEvidence): Observation[] {
  const last = attempts.at(-1);
  const status = last && statusOf(last);
  if (!last || status === null || status === undefined || status === 200) return [];
  if (decisions.some(({ what }) => what === 'give-up')) return [held([last])];
  const result = callbacks.find(isResult);
  if (result && result.request.at < last.request.at) return []; // the tool has it, whatever it answers
  const what = `continued to wait after the acknowledgement ${status}`;
  if (expiries.length > 0) return [broken(what, [last])];
  if (result) return [lacking(what, [last, result])]; // that it gave up would be a line of its own
  return [
    unseen(`the transcript does not show how the runtime handled the acknowledgement ${status}`, [last]),
  ];
}

/** Pauses that are no pauses, in ms. */
const AT_ONCE_MS = 5;
/** Who has looked out for less has hardly seen that nothing comes, in ms. */
const LEAST_MS = 2_000;

/** RT-RETRY: an invocation that was answered 5xx or lost is sent again, after a pause. */
const retriesDispatch: Rule = {
  id: 'RT-RETRY',
  absent: 'no invocation was answered 5xx or lost',
  observe: ({ calls, until }: Evidence) => calls.flatMap(call => retryOnCall(call, until)),
};

function retryOnCall({ attempts, callbacks, decisions }: CallEvidence, until: number): Observation[] {
  const failed = attempts.find(isFailedForNow);
  if (!failed || callbacks.length > 0) return []; // who has called back has the invocation
  if (attempts.length > 1) return [onRetries(attempts)];
  if (decisions.some(({ what }) => what === 'give-up'))
    return [lacking('the runtime gave up without a retry', [failed])];
  const watched = until - (endedAt(failed) ?? until);
  const tell = watched >= LEAST_MS ? lacking : unseen;
  return [tell(`no retry within ${formatDuration(watched)}`, [failed])];
}

function onRetries(attempts: readonly Leg[]): Observation {
  const pauses = attempts.slice(1).map((next, at) => next.request.at - (endedAt(attempts[at] ?? next) ?? 0));
  const paced = `after ${pauses.map(pause => formatDuration(pause)).join(', ')}`;
  const isHammering = pauses.length > 1 && pauses.every(pause => pause < AT_ONCE_MS);
  return isHammering
    ? doubtful(`retried without a pause: ${paced}`, attempts)
    : held(attempts, `retried ${paced}`);
}

/** RT-TOOLSET: of a toolset with a fault nothing is called, nor a name that two toolsets define. */
const loadsToolsetsWhole: Rule = {
  id: 'RT-TOOLSET',
  absent: 'no toolset in it was invalid, and no two define the same name',
  observe: (evidence: Evidence) => [...onInvalid(evidence), ...onDuplicates(evidence)],
};

function onInvalid({ discoveries, calls }: Evidence): Observation[] {
  const invalid = discoveries.filter(({ reading }) => reading?.ok === false);
  if (invalid.length === 0 || discoveries.some(({ reading }) => reading?.ok)) return [];
  const called = calls.flatMap(({ attempts }) => attempts.slice(0, 1));
  return [
    called.length > 0
      ? lacking('an operation of an invalid toolset was called', [...invalid, ...called.slice(0, 1)])
      : held(invalid),
  ];
}

function onDuplicates({ discoveries, calls }: Evidence): Observation[] {
  return [...doubleNames(discoveries)].map(([name, proof]) => {
    const called = calls.find(call => isOf(name, call));
    const what = `${excerpt(name)} is defined by two toolsets, and was called`;
    return called ? broken(what, [...proof, ...called.attempts]) : held(proof);
  });
}

/** A second request to the same server is not a second toolset. */
function doubleNames(discoveries: readonly Discovery[]): ReadonlyMap<string, readonly Discovery[]> {
  const owners = new Map<string, Discovery>();
  const doubles = new Map<string, readonly Discovery[]>();
  for (const discovery of discoveries)
    for (const name of namesIn(discovery)) {
      const owner = owners.get(name);
      if (!owner) owners.set(name, discovery);
      else if (owner.request.url !== discovery.request.url) doubles.set(name, [owner, discovery]);
    }
  return doubles;
}

function namesIn({ reading }: Discovery): string[] {
  return reading?.ok ? reading.toolset.tools.map(({ name }) => name) : [];
}

function isOf(name: string, { reading }: CallEvidence): boolean {
  return reading.ok && reading.invocation.operation === name;
}

/** What a runtime must hold. A new rule is one file and one line here. */
export const RUNTIME_RULES: readonly Rule[] = [
  dispatchesLoadedOperations,
  validatesArguments,
  usesFreshIds,
  sendsAllFields,
  failsOnOtherAcknowledgements,
  retriesDispatch,
  neverRetriesRefusals,
  validatesCallbacks,
  matchesResults,
  acceptsDuplicates,
  keepsAsking,
  keepsNoConsentUrl,
  postsSelections,
  tracksSubscriptions,
  takesViews,
  notifiesOnce,
  loadsToolsetsWhole,
];
