import { Content } from '../../events/content.js';
import { isBodyLost, type RoundTrip } from '../../events/round-trips.js';
import type { Invocation } from '../../protocol/invocation.js';
import { REQUIREMENT_IDS, type RequirementId } from '../../protocol/requirements.js';
import { mediaTypeOf } from '../../util/headers.js';
import { excerpt } from '../../util/text.js';
import { readUrl } from '../../util/url.js';
import type { CallEvidence } from '../call.js';
import { isTo, type KnownServer, toolsetsAt } from '../discovery.js';
import type { DriverEvidence, RequestedCall } from '../driver-evidence.js';
import { isErrorText } from '../error-text.js';
import type { Evidence } from '../evidence.js';
import {
  defineRules,
  doubtful,
  met,
  type Observed,
  requestSpot,
  unrecorded,
  violated,
  violatedIfComplete,
} from '../rule.js';
import { faultLine } from '../rule-details.js';

/** Rules that are judged even if RT-FIELDS or RT-ID fails. */
const NEVER_MASKED: readonly RequirementId[] = ['RT-FIELDS', 'RT-MIGRATE', 'RT-AUDIT'];

/** Rules about the calls of a runtime: without valid invocations and ids of their own none of them can be judged. */
const RUNTIME_CALL_RULES: readonly RequirementId[] = REQUIREMENT_IDS.filter(
  id => id.startsWith('RT-') && !NEVER_MASKED.includes(id),
);

/** The invocations that a runtime sends. */
export const runtimeInvocationRules = defineRules({
  'RT-OP': {
    level: 'MUST',
    statement: 'dispatches only operations of a loaded toolset',
    advice: 'Look up the operation in the loaded toolsets before you send an invocation.',
    invocationPage:
      'Before dispatching an invocation, the runtime MUST verify that the operation field matches a known tool definition from a loaded toolset.',
    absent: 'no invocation came after a toolset was loaded',
    observe: ({ calls, discoveries, requestedCalls, driver, servers }) => [
      calls.map(({ invocation, tool, attempts: [first] }) => {
        if (!invocation || !first || toolsetsAt(discoveries, first.request.at).length === 0) return null;
        if (tool) return met(first);
        const called = servers.filter(each => driver && isTo(each, first));
        if (isOfInvalidToolset(invocation, called)) return null; // RT-TOOLSET
        const what = `${excerpt(invocation.operation)} is not in a loaded toolset`;
        return violatedIfComplete(what, first, { spots: [requestSpot(first, 'operation')] });
      }),
      requestedCalls.map(each =>
        each.tools.length === 0 && !isOfInvalidToolset(each.message, servers)
          ? judgeUnsent(each, driver, 'operation')
          : null,
      ),
    ],
  },
  'RT-ARGS': {
    level: 'SHOULD',
    statement: 'validates arguments against inputSchema before dispatch',
    advice: 'Validate arguments against inputSchema; give the model the errors instead of making the call.',
    invocationPage:
      "The runtime SHOULD validate the arguments object against the tool's inputSchema to catch malformed input before it reaches the tool.",
    absent: 'no arguments could be checked against an inputSchema',
    observe: ({ calls, requestedCalls, driver, discoveries }) => [
      calls.map(({ argumentFaults, attempts: [first], tool }) => {
        if (!argumentFaults || !tool || !first) return null;
        const [fault] = argumentFaults;
        if (fault === undefined) return met(first);
        const what = `the arguments do not match the inputSchema of ${tool.name}: ${fault}`;
        return violated(what, first, { spots: [requestSpot(first, 'arguments')] });
      }),
      requestedCalls.map(each => {
        const { argumentFaults: faults } = each;
        if (faults?.length === 0 && discoveries.length === 1) return judgeRefusedArguments(each);
        return faults && faults.length > 0 ? judgeUnsent(each, driver, 'arguments') : null;
      }),
    ],
  },
  'RT-ID': {
    level: 'MUST',
    statement: "uses a fresh unique id per call, or the LLM's",
    advice: 'Generate a new id for each call, such as a UUID; reuse it only to retry the same call.',
    invocationPage:
      'The runtime MUST generate a unique id for the tool call (or use the one provided by the LLM)',
    masks: RUNTIME_CALL_RULES,
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
        if (attempts.every(({ request }) => Content.areSame(request.body ?? null, body)))
          return met(attempts);
        const proof = earlier === first ? attempts : [earlier, ...attempts];
        return violated(`the id ${excerpt(invocation.id)} was used for two calls of its thread`, proof);
      });
    },
  },
  'RT-FIELDS': {
    level: 'MUST',
    statement: 'POSTs JSON with a reachable callback_url and group_id',
    advice: 'POST operation, arguments, id, group_id and a callback_url that the tool can reach, as JSON.',
    invocationPage:
      'The runtime MUST send a tool invocation as an HTTP POST with Content-Type: application/json.',
    masks: RUNTIME_CALL_RULES,
    absent: 'no invocation was sent',
    observe: ({ calls, driver }) => calls.map(call => judgeFields(call, driver?.endRequestedAt)),
  },
  'RT-ANCESTORS': {
    level: 'SHOULD',
    statement:
      'sends thread_ancestors in calls of a child thread: root first, parent last; none on a root thread',
    advice:
      'Send the group_id of each ancestor, from the root to the parent, in every call of a child thread.',
    invocationPage:
      'When the current thread has ancestor threads, the runtime SHOULD include thread_ancestors with the ordered list of ancestor group IDs from root to parent.',
    needs: ['child-thread'],
    absent: 'no call is known to be in a child thread',
    observe: evidence => [evidence.calls.map(judgeOwnAncestors), judgeChildThreads(evidence)],
  },
});

function isOfInvalidToolset(
  { operation }: Pick<Invocation, 'operation'>,
  servers: readonly KnownServer[],
): boolean {
  return servers.some(({ invalidNames }) => invalidNames.includes(operation));
}

/** A call that must not be sent: the model gets a failed result instead. */
function judgeUnsent(
  asked: RequestedCall,
  driver: DriverEvidence | null,
  what: 'operation' | 'arguments',
): Observed {
  if (asked.call || !driver) return null;
  if (asked.answers.length > 0) return met([asked, ...asked.answers]);
  if (driver.isAnonymous) return null;
  if (driver.endsByItself)
    return driver.crash && what === 'operation'
      ? met(asked, 'nothing was dispatched')
      : unrecorded('the runtime did not answer a call of the model', asked);
  if (!driver.supports('failure')) return null;
  const why =
    what === 'operation' ? 'the operation is unknown' : 'the arguments do not match the inputSchema';
  return doubtful(`the call was not sent, and the model got no failed result: ${why}`, asked);
}

function judgeRefusedArguments({ call, answers, tools, ...asked }: RequestedCall): Observed {
  const answer = answers.find(({ message }) => message.saw === 'failure' || isErrorText(message.text, null));
  if (call || !answer) return null;
  const what = `arguments that match the inputSchema of ${tools[0]?.name} were refused`;
  return violatedIfComplete(what, [asked, answer], { faults: [faultLine(answer.message.text)] });
}

/** @param endedAt when the runtime was asked to end: it may stop listening then */
function judgeFields(
  { attempts: [first], reading, callbacks }: CallEvidence,
  endedAt = Number.POSITIVE_INFINITY,
): Observed {
  if (!first) return null;
  const requestError = requestFault(first);
  if (requestError !== null) return violated(requestError, first);
  if (isBodyLost(first.request)) return unrecorded('the body of an invocation was not recorded', first);
  const fault = reading.ok
    ? fieldFault(reading.invocation)
    : `the invocation is malformed: ${reading.faults[0]}`;
  if (fault !== null) return violated(fault, first);
  const sent = callbacks.filter(({ latestAt }) => latestAt < endedAt);
  const isUnreachable =
    sent.length > 0 && sent.every(({ status, broken: error }) => !status && error?.phase === 'connect');
  const what = 'no callback could connect to the callback_url';
  return isUnreachable ? violatedIfComplete(what, [first, ...sent]) : met(first);
}

function requestFault({ request: { method, headers } }: RoundTrip): string | null {
  if (method !== 'POST') return `the invocation is a ${method}, not a POST`;
  const type = headers['content-type'];
  if (type === undefined) return 'the invocation has no Content-Type';
  return mediaTypeOf(type) === 'application/json' ? null : 'the Content-Type is not application/json';
}

function fieldFault({ callback_url }: Invocation): string | null {
  const url = readUrl(callback_url);
  if (url === null) return 'callback_url is not a valid URL';
  return /^https?:$/.test(url.protocol) ? null : 'callback_url is neither http nor https';
}

/** What is wrong with ancestors in any recording. */
function judgeOwnAncestors({ invocation, attempts: [first] }: CallEvidence): Observed {
  const { thread_ancestors: ancestors, group_id: thread = '' } = invocation ?? {};
  if (!ancestors || !first) return null;
  const spots = [requestSpot(first, 'thread_ancestors')];
  if (ancestors.includes(thread))
    return violated('thread_ancestors names the thread itself', first, { spots });
  return ancestors.length === 0
    ? doubtful('thread_ancestors is empty; a root thread leaves it out', first, { spots })
    : null;
}

/** Each instruction begins a thread below the earlier ones. A runtime may use several threads at a level. */
function judgeChildThreads({ requestedCalls, driver }: Evidence): Observed {
  const begun = driver?.instructions('child-thread') ?? [];
  const levels: CallEvidence[][] = [[], ...begun.map(() => [])];
  for (const { event, call } of requestedCalls)
    if (call) levels[begun.filter(each => each.event.seq < event.seq).length]?.push(call);
  const threads = levels.map(calls => calls.flatMap(({ invocation }) => invocation?.group_id ?? []));
  const base = levels[0]?.[0]?.invocation?.thread_ancestors ?? []; // the whole session may be below another thread
  return levels.slice(1).map((calls, index) => {
    const parents = threads.slice(0, index + 1);
    return calls.map(call => judgeChildCall(call, base, parents));
  });
}

/** @param parents the threads of each level above the call, the root first */
function judgeChildCall(
  { invocation, attempts: [first] }: CallEvidence,
  base: readonly string[],
  parents: readonly (readonly string[])[],
): Observed {
  if (!invocation || !first || parents.some(({ length }) => length === 0)) return null;
  const { group_id: thread, thread_ancestors } = invocation;
  if (parents.flat().includes(thread))
    return unrecorded('the runtime made the call in an earlier thread, not in a child of it', first);
  const ancestors = thread_ancestors ?? [];
  const isPath = (names: readonly string[]) =>
    names.length === parents.length && names.every((name, level) => parents[level]?.includes(name));
  const own = ancestors.slice(base.length);
  if (base.every((name, level) => ancestors[level] === name) && isPath(own)) return met(first);
  const details = {
    expected: excerpt([...base, ...parents.map(([name = '']) => name)].join(', ')),
    actual: ancestors.length === 0 ? 'none' : excerpt(ancestors.join(', ')),
    spots: [requestSpot(first, 'thread_ancestors')],
  };
  if (ancestors.length === 0)
    return violated('a call of a child thread has no thread_ancestors', first, details);
  return isPath(ancestors.toReversed())
    ? violated('thread_ancestors begins with the parent, not with the root', first, details)
    : violated('thread_ancestors is not the list of the ancestors', first, details);
}
