import { isBodyLost, type RoundTrip } from '../../events/round-trips.js';
import { isSame } from '../../events/tool-call.js';
import { isQuestion } from '../../protocol/callbacks.js';
import { choiceResponseSchema, type Invocation, NOTICES } from '../../protocol/invocation.js';
import { validate } from '../../protocol/validate.js';
import { excerpt, formatDuration } from '../../util/text.js';
import { bareUrl, mediaTypeOf, readUrl, tokenlessUrl } from '../../util/url.js';
import { type CallEvidence, type Discovery, type Received, toolsetsAt } from '../call.js';
import type { Evidence } from '../evidence.js';
import {
  answeredOther,
  broken,
  defineRules,
  doubtful,
  faultLine,
  held,
  lacking,
  type Observation,
  type Observed,
  scant,
  sent,
  unseen,
} from '../rule.js';

/** Minimum pause that counts, in ms. */
const MIN_PAUSE_MS = 5;

/** Minimum time to show that no retry comes, in ms. */
const MIN_WATCH_MS = 2_000;

/** What a runtime sends: discovery, invocations and notices. */
export const runtimeRules = defineRules({
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
  'RT-VALIDATE': {
    level: 'MUST',
    statement: 'validates every callback against its schema; answers an invalid one with 4xx and ignores it',
    advice: 'Validate a callback before you use it, and answer an invalid one with 400.',
    absent: 'no callback came',
    observe: ({ calls, strays }) => {
      const callbacks = [...calls.flatMap(call => call.callbacks), ...strays];
      const invalid = callbacks.filter(({ reading, status }) => reading?.ok === false && status !== null);
      if (invalid.length === 0 && callbacks.length > 0) return scant('every callback matched its schema', []);
      return invalid.map(callback => {
        const { reading, status, isRefused } = callback;
        if (isRefused || reading?.ok !== false) return held(callback);
        const what = `a callback that does not match its schema was answered ${status}: ${reading.faults[0]}`;
        return broken(what, callback, answeredOther(callback, '4xx'));
      });
    },
  },
  'RT-MATCH': {
    level: 'MUST',
    statement: 'logs and discards a result that matches no pending call',
    advice:
      'Compare group_id and id with the pending calls; answer 404 if none matches, and do not inform the model.',
    resultPage: 'It MUST NOT inject unmatched results into any conversation.',
    absent: 'no result came with ids that match no pending call',
    observe: ({ calls }) => calls.map(onUnmatched),
  },
  'RT-SANITIZE': {
    level: 'SHOULD',
    statement: 'validates text before it passes it to the model',
    advice: 'Check text for control characters and invisible characters before you pass it to the model.',
    resultPage:
      'Runtimes SHOULD also validate the text content before passing it to the LLM — while the LLM is generally resilient to unexpected input, sanitization reduces the risk of prompt injection through tool results.',
    unobservable: 'not visible in HTTP traffic: it happens before the text goes to the model',
  },
  'RT-DUP': {
    level: 'SHOULD',
    statement: 'processes a duplicate delivery once and answers it with 200',
    advice: 'Remember which results were processed, and answer duplicates with 200.',
    resultPage:
      'Runtimes SHOULD implement idempotent result processing to handle duplicate deliveries gracefully, since network retries may cause the same result to arrive more than once.',
    absent: 'no delivery came twice',
    observe: ({ calls }) => calls.map(onDuplicates),
  },
  'RT-TEXT': {
    level: 'MUST',
    statement: 'gives the model text or content in full and unchanged, independent of display_as',
    advice: 'Give the model text or content unchanged; display_as is only for people.',
    resultPage:
      "When display_as is present, the runtime MUST still pass the full text value to the LLM as the tool's response.",
    unobservable: 'not visible in HTTP traffic: it concerns what the model gets',
  },
  'RT-DISPLAY': {
    level: 'SHOULD',
    statement: 'shows the user the first supported display segment, else text',
    advice: 'Show the first segment of display_as that you support, else text.',
    resultPage:
      'Runtimes SHOULD iterate the display_as array and render the first segment whose type they support.',
    unobservable: 'not visible in HTTP traffic: it concerns what the user sees',
  },
  'RT-PENDING': {
    level: 'MUST',
    statement: 'keeps the call pending during oauth and user_choice, and does not send it again',
    advice:
      'Keep the call pending after oauth or user_choice, and wait: the tool continues without a new invocation.',
    absent: 'no tool asked the user anything',
    observe: ({ calls }) =>
      calls.map(({ received, attempts }) => {
        const question = received.find(({ message }) => isQuestion(message));
        if (!question) return null;
        const { response, request } = question.callback;
        const again = attempts.find(each => each.request.at > (response ?? request).at);
        return again
          ? broken('the invocation was sent again after the question', [question.callback, again])
          : held(question.callback);
      }),
  },
  'RT-OAUTH': {
    level: 'MUST',
    statement: 'shows the auth_url to the user, and never stores or logs it',
    advice: 'Show auth_url to the user, and remove its query from all logs and files.',
    absent: 'not a transcript of a runtime with an oauth message',
    observe: ({ calls, observer }) => {
      const questions = observer === 'runtime' ? calls.flatMap(call => call.messages('oauth')) : [];
      return questions.map(({ callback, message: { auth_url } }) =>
        auth_url === bareUrl(auth_url)
          ? held(callback)
          : broken('the transcript keeps the query of the auth_url', callback),
      );
    },
  },
  'RT-CHOICE': {
    level: 'MUST',
    statement: 'POSTs the selection to response_url; a dismissed prompt sends default',
    advice: 'POST {id, selected} to response_url; selected counts from 0. If dismissed, send default.',
    absent: 'no tool offered a choice',
    observe: ({ calls }) =>
      calls.map(call => {
        const { selections, cancels, expiries } = call;
        const questions = call.messages('user_choice');
        const [first] = questions;
        if (!first) return null;
        if (selections.length > 0) return selections.map(each => onSelection(each, questions));
        if (cancels.length > 0) return null;
        return expiries.some(({ what }) => what === 'timeout')
          ? lacking('was never answered, not even with the default', first.callback)
          : unseen('no selection was seen', first.callback);
      }),
  },
  'RT-SUB': {
    level: 'MUST',
    statement: 'tracks subscriptions per thread, discards events of unknown or canceled ones, stops at final',
    advice:
      'Track subscriptions by thread and call, accept their events, and remove them at final or a cancel.',
    absent: 'no event of an open subscription came',
    observe: ({ calls }) =>
      calls
        .flatMap(call => call.messages('subscription_event'))
        .map(({ callback }) => {
          const { isRefused, status, verdict } = callback;
          if (verdict?.kind === 'discarded') return isRefused ? held(callback, 'others are discarded') : null;
          if (status === null || verdict?.kind !== 'noted') return null;
          return isRefused
            ? lacking(`an event of an open subscription was answered ${status}`, callback)
            : held(callback);
        }),
  },
  'RT-VIEW': {
    level: 'MUST',
    statement: 'keeps the latest view per thread and type; ignores unknown view types',
    advice: 'Answer every view_update with 200; keep the latest of each type, and ignore unknown types.',
    absent: 'no view came',
    observe: ({ calls }) =>
      calls
        .flatMap(call => call.messages('view_update'))
        .map(({ callback }) => {
          const { isRefused, status, verdict } = callback;
          if (status === null || (verdict?.kind !== 'noted' && verdict?.kind !== 'ignored')) return null;
          return isRefused ? broken(`a view was answered ${status}`, callback) : held(callback);
        }),
  },
  'RT-SERIAL': {
    level: 'MUST',
    statement: 'handles messages of one thread in order, and threads in parallel',
    advice: 'Queue the messages of a thread, and handle them one after another.',
    unobservable: 'not visible in HTTP traffic: it concerns work after the answer',
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

/** A forged result that was answered 2xx may have been discarded, unless it took the place of the real one. */
function onUnmatched({ callbacks }: CallEvidence): Observed {
  const unmatched = callbacks.filter(
    ({ verdict, response, message }) =>
      verdict?.kind === 'discarded' && response !== null && message?.type !== 'subscription_event',
  );
  const real = callbacks.find(({ verdict, isRefused }) => verdict?.kind === 'settles' && isRefused);
  return unmatched.map(forged => {
    if (forged.isRefused) return held(forged);
    return real
      ? broken("was accepted as the call's result, and the real result was then refused", [forged, real])
      : doubtful('was accepted; the transcript does not show whether it was discarded', forged);
  });
}

/** A callback that was not accepted can have no duplicates. */
function onDuplicates({ callbacks }: CallEvidence): Observed {
  const accepted = new Set<string | null>();
  return callbacks.map(callback => {
    const { fingerprint, status, verdict } = callback;
    const isRepeated =
      accepted.has(fingerprint) && verdict?.kind === 'duplicate' && verdict.identical && status !== null;
    if (status !== null && status >= 200 && status < 300) accepted.add(fingerprint);
    if (!isRepeated) return null;
    if (status === 200) return held(callback);
    const what = `a delivery that came again was answered ${status}`;
    return broken(what, callback, answeredOther(callback));
  });
}

function onSelection(selection: RoundTrip, questions: readonly Received<'user_choice'>[]): Observation {
  const { request, sentJson } = selection;
  if (isBodyLost(request)) return unseen('the body of a selection was not recorded', selection);
  const read = validate(choiceResponseSchema, sentJson);
  if (request.method !== 'POST' || !read.ok) return broken('the selection is not {id, selected}', selection);
  const { id, selected } = read.value;
  // A tool sees only the path of the URL, and a transcript has no token in it.
  const isOf = (url: string) => tokenlessUrl(url).endsWith(tokenlessUrl(request.url));
  const question = questions.find(({ message }) => message.id === id && isOf(message.response_url))?.message;
  if (!question)
    return lacking('the selection was sent to another URL, or has the id of another call', selection);
  if (selected < question.choices.length) return held(selection);
  return broken('the selection is not one of the choices', selection, {
    expected: `0 to ${question.choices.length - 1}`,
    actual: String(selected),
    spots: [sent(selection, 'selected')],
  });
}
