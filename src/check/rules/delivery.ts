import { idOf } from '../../events/judge-callback.js';
import { addresseeIn } from '../../protocol/read-invocation.js';
import { excerpt } from '../../util/excerpt.js';
import { formatDuration } from '../../util/format-duration.js';
import { cut } from '../../util/json-diagnosis.js';
import { visibleLine } from '../../util/visible.js';
import {
  type CallbackEvidence,
  type CallEvidence,
  type Death,
  type Delivery,
  deliveriesOf,
  type Evidence,
  endedAt,
  eventsOf,
  isFailedForNow,
  isOwn,
  isRefused,
  pausesIn,
  saysTheSame,
  shortestWatch,
  statusOf,
  type Told,
  told,
  toldAs,
  vainWait,
  watchedSince,
} from '../evidence.js';
import {
  calledOffAt,
  type Ending,
  endingOf,
  isBodyLost,
  OF_CALLBACKS,
  onDeath,
  unacceptable,
} from '../evidence-queries.js';
import {
  broken,
  doubtful,
  held,
  heldBut,
  lacking,
  type Observation,
  type Rule,
  scant,
  sent,
  unseen,
} from '../judge.js';
import { nullRemark, withFaults } from './discovery.js';
import { differenceOf, featuresOf } from './ids.js';

/** What helps where something did not come in time: seed 004 knows no time that a tool must keep, so silence alone proves nothing. */
export function ifItTakesLonger(call: Pick<CallEvidence, 'expiries'>): string {
  const option = vainWait(call)?.what === 'timeout' ? "the caller's --timeout" : '--probe-timeout';
  return `raise ${option} if the tool takes longer`;
}

/**
 * TOOL-ALWAYS: what was acknowledged ends in a result within the window. What was asked of a person, and how it went on, is of
 * TOOL-CHOICE and TOOL-OAUTH; what came but could not be read, or went to another call, is no dropped call; a refusal that did not come
 * is of TOOL-UNKNOWN-OP and TOOL-BAD-ARGS.
 */
export const dropsNothing: Rule = {
  id: 'TOOL-ALWAYS',
  masks: ['TOOL-ASYNC', ...OF_CALLBACKS, 'TOOL-CHOICE', 'TOOL-OAUTH'],
  absent: 'no acknowledged invocation was waited for',
  observe: evidence => {
    const elsewhere = namedElsewhere(evidence);
    const judged = evidence.calls
      .filter(call => call.reading.ok && unacceptable(call, evidence) === null)
      .map(call => ({ call, ending: endingOf(call) }))
      .filter(({ call, ending }) => ending.kind !== 'silent' || !elsewhere.has(idIn(call)));
    const silence = silenceIn(judged.map(({ ending }) => ending));
    return judged.flatMap(({ call, ending }) => onCall(call, ending, silence, evidence));
  },
};

/** `0 of 12 calls got a result within 5s`: of the calls that ended in a result, or in nothing. */
function silenceIn(endings: readonly Ending[]): string {
  const silent = endings.flatMap(ending => (ending.kind === 'silent' ? [ending.afterMs] : []));
  const results = endings.filter(({ kind }) => kind === 'result').length;
  const longest = silent.reduce((most, ms) => Math.max(most, ms), 0);
  const all = silent.length + results;
  return `${results} of ${all} ${all === 1 ? 'call' : 'calls'} got a result within ${formatDuration(longest)}`;
}

function onCall(
  call: CallEvidence,
  ending: Ending,
  silence: string,
  { death }: Evidence,
): readonly Observation[] {
  switch (ending.kind) {
    case 'result':
      return [held([ending.callback])];
    case 'open':
      return [unseen('a call was still pending when the transcript ended', call.attempts)];
    case 'cut-short':
      return [unseen('the tool crashed for another reason before a call ended', call.attempts)];
    case 'called-off':
      return onCalledOff(call);
    case 'silent':
      return [onSilent(call, ending.afterMs, silence, death)];
    default:
      return [];
  }
}

function onSilent(call: CallEvidence, afterMs: number, silence: string, death: Death | null): Observation {
  const about = call.attempts.flatMap(eventsOf);
  const isKilled = death !== null && call.attempts.includes(death.message);
  if (!isKilled)
    return lacking(`${silence}: ${ifItTakesLonger(call)}`, call.attempts, {
      expected: 'a tool_result',
      about,
    });
  const what = `no tool_result within ${formatDuration(afterMs)}, and the tool was unreachable`;
  return lacking(what, [...call.attempts, death.later], { expected: 'a tool_result', about });
}

/** A cancel may mean that the runtime gave up waiting, except if the user or a probe decided it. */
function onCalledOff({ reading, attempts, cancels, closes, decisions, plans }: CallEvidence): Observation[] {
  const taken = attempts.find(attempt => statusOf(attempt) === 200);
  const [notice] = [...cancels, ...closes].toSorted((one, other) => one.request.seq - other.request.seq);
  const isMeant = decisions.some(({ what }) => what === 'cancel') || plans.some(({ by }) => by === 'probe');
  if (!taken || !notice || !reading.ok || isMeant) return [];
  const waited = notice.request.at - (endedAt(taken) ?? notice.request.at);
  const how = cancels.includes(notice) ? 'canceled' : 'closed';
  const what = `a call of ${excerpt(reading.invocation.operation)} was ${how} by the runtime after ${formatDuration(waited)} without a result`;
  return [waited < WAITED_MS ? scant(what, [taken, notice]) : unseen(what, [taken, notice])];
}

/** Who waits for less has hardly waited for a result. */
const WAITED_MS = 1_000;

function idIn({ reading }: CallEvidence): string {
  return reading.ok ? reading.invocation.id : '';
}

/** Ids that are named by what came to the URL of another call, or of none. */
function namedElsewhere({ calls, strays }: Evidence): ReadonlySet<string> {
  const named = calls.flatMap(call =>
    told(call).flatMap(({ message }) => (idOf(message) === idIn(call) ? [] : [idOf(message)])),
  );
  const astray = told({ callbacks: strays }).map(({ message }) => idOf(message));
  return new Set([...named, ...astray].filter(id => id !== undefined));
}

type Result = Told<'tool_result'>;

/** TOOL-ONCE: one result; the same once more is a retry. */
export const endsOnce: Rule = {
  id: 'TOOL-ONCE',
  masks: ['TOOL-NORETRY'],
  absent: 'no call ended in a result',
  observe: evidence => {
    const ended = evidence.calls.map(resultsOf).filter(results => results.length > 0);
    const what = windowOf(ended, evidence);
    return ended.map(results => onResults(results, what));
  },
};

/** What was refused for good counts as none: the tool may say something better. */
function resultsOf(call: CallEvidence): readonly Result[] {
  const { reading } = call;
  if (!reading.ok) return [];
  return toldAs(call, 'tool_result').filter(
    ({ callback, message }) => isOwn(message, reading.invocation) && !isRefused(callback),
  );
}

function onResults([first, ...later]: readonly Result[], what: string): Observation {
  const other = first && later.find(({ callback }) => !saysTheSame(callback, first.callback));
  if (!first || !other)
    return held([...(first ? [first.callback] : []), ...later.map(each => each.callback)], what);
  const pair = [first.callback, other.callback];
  if (isFailedForNow(first.callback))
    return doubtful('a different result came after a failed delivery', pair);
  return broken('a second, different tool_result came', pair, {
    expected: 'one tool_result',
    actual: 'two different ones',
    spots: pair.map(leg => sent(leg, 'text')),
  });
}

/** For so long nothing more came of any call. */
function windowOf(ended: readonly (readonly Result[])[], evidence: Evidence): string {
  const moments = ended.flatMap(results => results.slice(0, 1).map(({ callback }) => callback.request.at));
  return `watched for at least ${formatDuration(shortestWatch(moments, evidence))} after each result`;
}

/** Pauses that are no pauses, in ms. One that is drawn at random may well be short (full jitter). */
const HASTE_MS = 5;

/** TOOL-RETRY: what was answered 5xx or lost comes again, and not at once each time. */
export const retries: Rule = {
  id: 'TOOL-RETRY',
  failsWhere: 'the tool crashes',
  absent: 'no callback was answered 5xx or lost',
  observe: evidence => {
    const end = onDeath(evidence, 'callback', 'one of its callbacks was lost or refused');
    if (end) return [end];
    const failed = evidence.calls
      .filter(({ isCutShort }) => !isCutShort)
      .flatMap(call =>
        failedDeliveries(call).map(delivery => ({ delivery, isWaited: vainWait(call) !== undefined })),
      );
    const alone = failed.flatMap(({ delivery }) => (delivery.length === 1 ? [momentOf(delivery[0])] : []));
    const watched = shortestWatch(alone, evidence);
    return failed.map(({ delivery, isWaited }) => onDelivery(delivery, watched, isWaited));
  },
};

/** Who has looked out for less, and not on purpose, has hardly seen that nothing comes. In ms. */
const LEAST_MS = 1_000;

/** After a cancel, no retry is needed. */
function failedDeliveries(call: CallEvidence): readonly Delivery[] {
  const end = calledOffAt(call);
  return deliveriesOf(call).filter(([first]) => isFailedForNow(first) && first.request.seq < end);
}

function momentOf(callback: CallbackEvidence): number {
  return endedAt(callback) ?? callback.request.at;
}

function onDelivery(delivery: Delivery, watched: number, isWaited: boolean): Observation {
  const pauses = pausesIn(delivery);
  if (pauses.length === 0) {
    const tell = isWaited || watched >= LEAST_MS ? lacking : unseen;
    return tell(`no retry within ${formatDuration(watched)}; use --probe-timeout to wait longer`, delivery);
  }
  const what = `sent again after ${pauses.map(formatDuration).join(', ')}`;
  if (isHasty(pauses) || (pauses.length >= ENOUGH && !isGrowing(pauses)))
    return doubtful(`${what}: without growing pauses`, delivery);
  const isOdd = pauses.length > 1 && !isGrowing(pauses);
  return isOdd
    ? heldBut(`${what}: the pauses do not grow each time, which may be chance`, delivery)
    : held(delivery, what);
}

/** Pauses that are drawn at random may shrink once (full jitter); hardly time and again. */
const ENOUGH = 3;
/** What is longer by less is the same pause. */
const GROWTH = 1.25;

function isGrowing([first = 0, ...others]: readonly number[]): boolean {
  return others.some(pause => pause > first * GROWTH);
}

function isHasty(pauses: readonly number[]): boolean {
  return pauses.length > 1 && pauses.every(pause => pause < HASTE_MS);
}

/** Within less time than this not even a hasty tool would have tried again. In ms. */
const NO_RETRY_LEAST_MS = 1_000;

/** TOOL-NORETRY: what was refused for good does not come again. */
export const takesNoForAnAnswer: Rule = {
  id: 'TOOL-NORETRY',
  absent: 'no callback was answered 4xx and watched afterwards',
  observe: evidence =>
    evidence.calls.flatMap(call => [
      ...deliveriesOf(call).flatMap(delivery => noRetryOnDelivery(delivery, evidence)),
      ...onOtherResults(call),
    ]),
};

/** A different result is not a retry, but the call was over after the refusal. */
function onOtherResults(call: CallEvidence): readonly Observation[] {
  const { reading } = call;
  if (!reading.ok) return [];
  const results = toldAs(call, 'tool_result').filter(({ message }) => isOwn(message, reading.invocation));
  const refused = results.find(({ callback }) => isForGood(callback))?.callback;
  if (!refused) return [];
  const other = results.find(
    ({ callback }) => callback.request.seq > lastOf(refused) && !saysTheSame(callback, refused),
  )?.callback;
  return other
    ? [doubtful(`answered ${statusOf(refused)}, and another tool_result came`, [refused, other])]
    : [];
}

function lastOf({ request, response }: CallbackEvidence): number {
  return response?.seq ?? request.seq;
}

function noRetryOnDelivery(delivery: Delivery, evidence: Evidence): readonly Observation[] {
  const refused = delivery.find(isForGood);
  if (!refused) return [];
  const endOfIt = endedAt(refused) ?? refused.request.at;
  const again = delivery.find(({ request }) => request.at >= endOfIt && request.seq > refused.request.seq);
  if (again) {
    const pause = formatDuration(again.request.at - endOfIt);
    return [broken(`answered ${statusOf(refused)}, and sent again after ${pause}`, [refused, again])];
  }
  const watched = watchedSince(endOfIt, evidence);
  return watched < NO_RETRY_LEAST_MS
    ? []
    : [held([refused], `not sent again within ${formatDuration(watched)}`)];
}

/** 408 and 429 allow a retry. */
function isForGood(callback: Delivery[0]): boolean {
  return isRefused(callback) && statusOf(callback) !== 408 && statusOf(callback) !== 429;
}

/** TOOL-OPAQUE: callbacks come to the very URL that was given. */
export const usesUrlAsGiven: Rule = {
  id: 'TOOL-OPAQUE',
  masks: ['TOOL-ASYNC', 'TOOL-ALWAYS', ...OF_CALLBACKS],
  absent: 'no callback came',
  observe: evidence => {
    const what = triedWith(evidence.calls);
    return [...evidence.calls.flatMap(call => opaqueOnCall(call, what)), ...onStrays(evidence)];
  },
};

/** What there was in the URLs that could have been changed. */
function triedWith(calls: Evidence['calls']): string | undefined {
  const used = calls.filter(({ callbacks }) => callbacks.length > 0);
  const features = new Set(
    used.flatMap(({ reading }) => featuresOf(addresseeIn(reading)?.callback_url ?? '')),
  );
  return features.size > 0 ? `also with ${[...features].join(', ')}` : undefined;
}

function opaqueOnCall(
  { reading, callbacks }: CallEvidence,
  what: string | undefined,
): readonly Observation[] {
  const given = addresseeIn(reading)?.callback_url;
  if (given === undefined) return [];
  return callbacks.map(callback => {
    const difference = differenceOf(given, callback.request.url);
    return difference === null
      ? held([callback], what)
      : broken(`a callback went to a URL other than the given one: ${difference}`, [callback]);
  });
}

/** Who posts there is not known by the address alone; where a call is left without its callback, it is. */
function onStrays({ calls, strays }: Evidence): readonly Observation[] {
  const ids = new Set(calls.flatMap(({ reading }) => (reading.ok ? [reading.invocation.id] : [])));
  const posts = strays.filter(({ request, response }) => request.method === 'POST' && isAstray(response));
  const ours = told({ callbacks: posts }).filter(({ message }) => ids.has(idOf(message) ?? ''));
  if (ours.length > 0)
    return [
      broken(
        words(ours.length, 'that names a call'),
        ours.map(each => each.callback),
      ),
    ];
  if (posts.length === 0) return [];
  const isLeftOut = calls.some(call => call.callbacks.length === 0 && endingOf(call).kind === 'silent');
  const tell = isLeftOut ? lacking : doubtful;
  return [tell(words(posts.length, isLeftOut ? 'and a call without any' : ''), posts)];
}

/** What a listener turns away for another reason has reached no address at all. */
function isAstray(response: CallbackEvidence['response']): boolean {
  return response?.refusal === undefined || response.refusal === 'wrong-address';
}

function words(count: number, more: string): string {
  return `${count} post${count === 1 ? '' : 's'} to a wrong callback address ${more}`.trim();
}

const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-?8"?\s*)?;?$/i;
/** Characters of a header, or of a refusal. */
const MOST = 300;

/** TOOL-POST: a POST of JSON in UTF-8, as the schema of its type wants it. */
export const postsJson: Rule = {
  id: 'TOOL-POST',
  masks: ['TOOL-ALWAYS', ...OF_CALLBACKS],
  absent: 'no callback came',
  observe: ({ calls }) =>
    calls.flatMap(call => {
      const excused = missingIn(call);
      return call.callbacks.flatMap(callback => onCallback(callback, excused));
    }),
};

/** The ids that the invocation does not have, so the tool cannot send them back. */
function missingIn({ reading }: CallEvidence): readonly string[] {
  if (reading.ok) return [];
  return NAMES.filter(name => reading.faults.some(fault => fault.startsWith(name)));
}

const NAMES = ['$.group_id:', '$.id:'];

function onCallback(callback: CallbackEvidence, excused: readonly string[]): readonly Observation[] {
  const { request, response, reading } = callback;
  if (request.method !== 'POST')
    return [
      broken(`a ${excerpt(request.method)} came`, [callback], { expected: 'POST', actual: request.method }),
    ];
  if (response?.refusal !== undefined && !reading)
    return onRefusal(callback, response.status, response.refusal);
  const type = request.headers['content-type'] ?? '';
  if (!JSON_TYPE.test(type.trim())) {
    const actual = type === '' ? 'no content type' : cut(visibleLine(type), MOST);
    return [
      broken('a callback is not application/json', [callback], { expected: 'application/json', actual }),
    ];
  }
  return onBody(callback, excused);
}

/** A listener may have reasons of its own; what is wrong with the request itself is the tool's fault. */
function onRefusal(callback: CallbackEvidence, status: number, refusal: string): readonly Observation[] {
  if (status < 400 || status === 408 || status >= 500) return [];
  const tell = [400, 405, 411, 415].includes(status) ? broken : doubtful;
  return [tell(`a callback was refused with ${status}: ${cut(visibleLine(refusal), MOST)}`, [callback])];
}

function onBody(callback: CallbackEvidence, excused: readonly string[]): readonly Observation[] {
  const { reading, request } = callback;
  if (isBodyLost(request)) return [unseen('the body of a callback was not recorded', [callback])];
  if (!reading) return [broken('a callback has no body', [callback])];
  if (!reading.ok) {
    const faults = reading.faults.filter(fault => !excused.some(name => fault.startsWith(name)));
    if (faults.length === 0) return [];
    return [broken('invalid callback', [callback], withFaults(faults))];
  }
  const remarks = [
    ...reading.warnings.filter(({ id }) => id === 'TOOL-POST').map(({ message }) => message),
    ...nullRemark(reading.nulls),
  ];
  return [remarks.length > 0 ? doubtful(visibleLine(remarks.join('; ')), [callback]) : held([callback])];
}
