import { isBodyLost, type RoundTrip } from '../../events/round-trips.js';
import { isSame } from '../../events/tool-call.js';
import { type Invocation, NOTICES } from '../../protocol/invocation.js';
import { validate } from '../../protocol/validate.js';
import { excerpt, formatDuration } from '../../util/text.js';
import { mediaTypeOf, readUrl } from '../../util/url.js';
import { type CallEvidence, type Discovery, toolsetsAt } from '../call.js';
import type { Evidence } from '../evidence.js';
import {
  broken,
  defineRules,
  doubtful,
  faultLine,
  held,
  lacking,
  type Observation,
  type Observed,
  sent,
  unseen,
} from '../rule.js';

/** Minimum pause that counts, in ms. */
const MIN_PAUSE_MS = 5;

/** Minimum time to show that no retry comes, in ms. */
const MIN_WATCH_MS = 2_000;

/** What a runtime sends: discovery, invocations and notices. */
export const runtimeRequestRules = defineRules({
  'RT-OP': {
    level: 'MUST',
    statement: 'dispatches only operations of a loaded toolset',
    advice: 'Look up the operation in the loaded toolsets before you send an invocation.',
    invocationPage:
      'Before dispatching an invocation, the runtime MUST verify that the operation field matches a known tool definition from a loaded toolset.',
    absent: 'no invocation came after a toolset was loaded',
    observe: ({ calls, discoveries }) =>
      calls.map(({ invocation, tool, attempts: [first] }) => {
        if (!invocation || !first || toolsetsAt(discoveries, first.request.at).length === 0) return null;
        if (tool) return held(first);
        const what = `${excerpt(invocation.operation)} is not in a loaded toolset`;
        return lacking(what, first, { spots: [sent(first, 'operation')] });
      }),
  },
  'RT-ARGS': {
    level: 'SHOULD',
    statement: 'validates arguments against inputSchema before dispatch',
    advice: 'Validate arguments against inputSchema; give the model the errors instead of making the call.',
    invocationPage:
      "The runtime SHOULD validate the arguments object against the tool's inputSchema to catch malformed input before it reaches the tool.",
    absent: 'no arguments could be checked against an inputSchema',
    observe: ({ calls }) =>
      calls.map(({ argumentFaults, attempts: [first], tool }) => {
        if (!argumentFaults || !tool || !first) return null;
        const [fault] = argumentFaults;
        if (fault === undefined) return held(first);
        const what = `the arguments do not match the inputSchema of ${tool.name}: ${fault}`;
        return broken(what, first, { spots: [sent(first, 'arguments')] });
      }),
  },
  'RT-ID': {
    level: 'MUST',
    statement: "uses a fresh unique id per call, or the LLM's",
    advice: 'Generate a new id for each call, such as a UUID; reuse it only to retry the same call.',
    invocationPage:
      'The runtime MUST generate a unique id for the tool call (or use the one provided by the LLM)',
    absent: 'no invocation was sent',
    observe: ({ calls }) => {
      const firsts = new Map<string, RoundTrip>();
      return calls.map(({ invocation, attempts }) => {
        const [first] = attempts;
        if (!invocation || !first) return null;
        const name = JSON.stringify([invocation.group_id, invocation.id]);
        const earlier = firsts.get(name) ?? first;
        firsts.set(name, earlier);
        const { body = null } = earlier.request;
        if (attempts.every(({ request }) => isSame(request.body ?? null, body))) return held(attempts);
        const proof = earlier === first ? attempts : [earlier, ...attempts];
        return broken(`the id ${excerpt(invocation.id)} was used for two calls of its thread`, proof);
      });
    },
  },
  'RT-FIELDS': {
    level: 'MUST',
    statement:
      'POSTs JSON with a reachable callback_url, group_id, and thread_ancestors if the thread has ancestors',
    advice: 'POST operation, arguments, id, group_id and a callback_url that the tool can reach, as JSON.',
    invocationPage:
      'The runtime MUST send a tool invocation as an HTTP POST with Content-Type: application/json.',
    masks: ['RT-OP', 'RT-ARGS'],
    absent: 'no invocation was sent',
    observe: ({ calls }) => calls.map(onFields),
  },
  'RT-NON200': {
    level: 'SHOULD',
    statement: 'turns any acknowledgement other than 200 into a failed result with a description',
    advice: 'End the call with an error result that names the status; do not wait for a callback.',
    invocationPage:
      'Any other non-200 status indicates the tool could not accept the invocation, and the runtime SHOULD record the failure as a tool result with an error description, allowing the LLM to reason about it.',
    absent: 'not recorded by a runtime, or every acknowledgement was 200',
    observe: ({ calls, observer }) => (observer === 'runtime' ? calls.map(onOtherStatus) : null),
  },
  'RT-RETRY': {
    level: 'SHOULD',
    statement: 'retries an unreachable tool or a 5xx with exponential backoff',
    advice: 'Retry an invocation after a 5xx or a failed connection, with growing pauses.',
    absent: 'no invocation was answered 5xx or lost',
    observe: ({ calls, until }) => calls.map(call => onFailedAttempt(call, until)),
  },
  'RT-NORETRY': {
    level: 'MUST',
    statement: 'never retries a 4xx',
    advice: 'End the call with an error result after the first 4xx.',
    absent: 'no invocation was answered 4xx',
    observe: ({ calls, until }) =>
      calls.map(({ attempts }) => {
        const index = attempts.findIndex(({ isRefused }) => isRefused);
        const refused = attempts[index];
        if (!refused) return null;
        const next = attempts[index + 1];
        return next
          ? broken(`sent again after a ${refused.status}`, [refused, next])
          : held(refused, `not within ${formatDuration(until - refused.latestAt)}`);
      }),
  },
  'RT-NOTIFY': {
    level: 'MUST',
    statement:
      'sends notices with the right fields to all servers at once, without retries; their failures never block',
    advice: 'Send a notice to all servers at once, once each, and do not wait for them.',
    absent: 'no notice was sent',
    observe: ({ closes, cancels }) => {
      const failures = new Map<string, RoundTrip>();
      return [...closes, ...cancels].map(
        notice => onNoticeFields(notice) ?? onRepeatedNotice(notice, failures),
      );
    },
  },
  'RT-TOOLSET': {
    level: 'MUST',
    statement: 'rejects a toolset with any error; a name defined in two toolsets is available from neither',
    advice: 'Reject the whole toolset if any part is invalid, and reject names that two toolsets define.',
    absent: 'no toolset in it was invalid, and no two define the same name',
    observe: evidence => [onInvalidToolset(evidence), onDuplicateNames(evidence)],
  },
  'RT-AUDIT': {
    level: 'SHOULD',
    statement: 'logs invocations with operation, time and outcome',
    advice: 'Log each invocation with its operation, time and outcome.',
    invocationPage:
      'Runtimes SHOULD log tool invocations for audit purposes, including the operation name, timestamp, and outcome.',
    unobservable: "not visible in HTTP traffic: it concerns the runtime's own log",
  },
  'RT-TIMEOUT': {
    level: 'none',
    statement: 'records a timeout result if it has a timeout of its own',
    advice: 'Record a result that says that the call timed out.',
    invocationPage: 'the protocol defines no timeout',
    unobservable: 'not visible in HTTP traffic, and the protocol leaves it open',
  },
});

function onFields({ attempts: [first], reading, callbacks }: CallEvidence): Observed {
  if (!first) return null;
  if (isBodyLost(first.request)) return unseen('the body of an invocation was not recorded', first);
  const fault =
    requestFault(first) ??
    (reading.ok ? fieldFault(reading.invocation) : `the invocation is malformed: ${reading.faults[0]}`);
  if (fault !== null) return broken(fault, first);
  if (reading.ok && reading.invocation.thread_ancestors?.length === 0)
    return doubtful('thread_ancestors is empty; a root thread leaves it out', first);
  const isUnreachable =
    callbacks.length > 0 &&
    callbacks.every(({ status, broken: error }) => !status && error?.phase === 'connect');
  const what = 'nothing listened at the callback_url: no callback could connect to it';
  return isUnreachable ? lacking(what, [first, ...callbacks]) : held(first);
}

function requestFault({ request: { method, headers } }: RoundTrip): string | null {
  if (method !== 'POST') return `the invocation is a ${method}, not a POST`;
  const type = headers['content-type'];
  if (type === undefined) return 'the invocation has no Content-Type';
  return mediaTypeOf(type) === 'application/json' ? null : 'the Content-Type is not application/json';
}

function fieldFault({ callback_url, thread_ancestors, group_id }: Invocation): string | null {
  const url = readUrl(callback_url);
  if (url === null) return 'callback_url is not a valid URL';
  if (!/^https?:$/.test(url.protocol)) return 'callback_url is neither http nor https';
  return thread_ancestors?.includes(group_id) ? 'thread_ancestors names the thread itself' : null;
}

/** Only a runtime's own transcript shows how it handled the status. */
function onOtherStatus({ attempts, callbacks, decisions, expiries }: CallEvidence): Observed {
  const last = attempts.at(-1);
  if (!last || last.status === null || last.status === 200) return null;
  if (decisions.some(({ what }) => what === 'give-up')) return held(last);
  const result = callbacks.find(({ message }) => message?.type === 'tool_result');
  if (result && result.request.at < last.request.at) return null; // the tool has the call, with any status
  const what = `continued to wait after the acknowledgement ${last.status}`;
  if (expiries.length > 0) return broken(what, last);
  if (result) return lacking(what, [last, result]); // the lost event may show that it gave up
  return unseen(
    `the transcript does not show how the runtime handled the acknowledgement ${last.status}`,
    last,
  );
}

function onFailedAttempt({ attempts, callbacks, decisions }: CallEvidence, until: number): Observed {
  const failed = attempts.find(({ isFailed }) => isFailed);
  if (!failed || callbacks.length > 0) return null; // a tool that called back has the invocation
  if (attempts.length > 1) {
    const pauses = attempts
      .slice(1)
      .map(({ request }, index) => request.at - (attempts[index]?.end?.at ?? 0));
    const paced = `after ${pauses.map(formatDuration).join(', ')}`;
    const isHasty = pauses.length > 1 && pauses.every(pause => pause < MIN_PAUSE_MS);
    return isHasty
      ? doubtful(`retried without a pause: ${paced}`, attempts)
      : held(attempts, `retried ${paced}`);
  }
  if (decisions.some(({ what }) => what === 'give-up'))
    return lacking('the runtime gave up without a retry', failed);
  const watched = until - (failed.end?.at ?? until);
  return (watched >= MIN_WATCH_MS ? lacking : unseen)(`no retry within ${formatDuration(watched)}`, failed);
}

function onNoticeFields(notice: RoundTrip): Observation | null {
  const { request, sentJson } = notice;
  const isClose = request.purpose === 'close';
  const name = isClose ? 'close_thread' : 'cancel_tool_call';
  if (request.method !== 'POST')
    return broken(`a ${name} notice is a ${excerpt(request.method)}, not a POST`, notice);
  if (isBodyLost(request)) return null;
  const read = validate(NOTICES[isClose ? 'close' : 'cancel'].body, sentJson);
  if (read.ok) return null;
  const judged = request.body ? broken : lacking;
  return judged(`the fields of a ${name} notice are wrong`, notice, { faults: read.faults.map(faultLine) });
}

/** @param failures the first failed notice by URL and body */
function onRepeatedNotice(notice: RoundTrip, failures: Map<string, RoundTrip>): Observation {
  const { url, body } = notice.request;
  const name = `${url} ${body?.sha256 ?? ''}`;
  const failed = failures.get(name);
  if (failed) {
    const judged = failed.end ? broken : lacking;
    return judged('a notice that failed was sent again', [failed, notice]);
  }
  if (notice.status !== 200) failures.set(name, notice);
  return held(notice);
}

function onInvalidToolset({ discoveries, calls }: Evidence): Observed {
  const invalid = discoveries.filter(({ reading }) => reading?.ok === false);
  if (invalid.length === 0 || discoveries.some(({ reading }) => reading?.ok)) return null;
  const [called] = calls.flatMap(({ attempts }) => attempts.slice(0, 1));
  return called
    ? lacking('an operation of an invalid toolset was called', [...invalid, called])
    : held(invalid);
}

/** A second request to the same server does not add a second toolset. */
function onDuplicateNames({ discoveries, calls }: Evidence): Observed {
  const owners = new Map<string, Discovery>();
  const duplicates = new Map<string, readonly Discovery[]>();
  for (const discovery of discoveries)
    for (const { name } of discovery.reading?.ok ? discovery.reading.toolset.tools : []) {
      const owner = owners.get(name);
      if (!owner) owners.set(name, discovery);
      else if (owner.request.url !== discovery.request.url) duplicates.set(name, [owner, discovery]);
    }
  return [...duplicates].map(([name, proof]) => {
    const called = calls.find(({ invocation }) => invocation?.operation === name);
    const what = `${excerpt(name)} is defined by two toolsets, and was called`;
    return called ? broken(what, [...proof, ...called.attempts]) : held(proof);
  });
}
