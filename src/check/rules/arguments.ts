import { outcomeOfText } from '../../protocol/outcome.js';
import { invocationSchema } from '../../protocol/read-invocation.js';
import { formatDuration } from '../../util/format-duration.js';
import { isRecord } from '../../util/json-diagnosis.js';
import {
  type CallEvidence,
  type Evidence,
  type Leg,
  statusOf,
  type Told,
  told,
  vainWait,
} from '../evidence.js';
import { breakOf, type Ending, endingOf, isBodyLost, onDeath, unacceptable } from '../evidence-queries.js';
import {
  broken,
  doubtful,
  held,
  lacking,
  type Observation,
  type Rule,
  type Spot,
  sent,
  unseen,
} from '../judge.js';
import { ifItTakesLonger } from './delivery.js';

/** The texts that valid calls ended in, of the operation of a call; of all of them where there is no such operation. */
type SoundResults = (call: CallEvidence) => ReadonlySet<string>;

function soundResults(evidence: Evidence): SoundResults {
  const all = new Set<string>();
  const byTool = new Map<string, Set<string>>();
  for (const call of evidence.calls) {
    const text = soundText(call, evidence);
    if (text === null) continue;
    const name = call.tool?.name ?? '';
    all.add(text);
    byTool.set(name, (byTool.get(name) ?? new Set()).add(text));
  }
  return ({ tool }) => (tool ? (byTool.get(tool.name) ?? new Set()) : all);
}

/** A text without the names of its call, which differ in each. */
function nameless(text: string, { reading }: CallEvidence): string {
  if (!reading.ok) return text;
  const { id, group_id, call_id } = reading.invocation;
  const names = [id, group_id, call_id ?? ''].filter(name => name !== '');
  return names.reduce((rest, name) => rest.replaceAll(name, ''), text);
}

function soundText(call: CallEvidence, evidence: Evidence): string | null {
  if (unacceptable(call, evidence) !== null) return null;
  const ending = endingOf(call);
  return ending.kind === 'result' && !ending.isError ? nameless(ending.text, call) : null;
}

const EXPECTED = '200, and an error result';

/** Whether a call that must not be executed was taken with 200 and ended in an error result. @param story what kind of call it is */
function onRefusable(call: CallEvidence, story: string): readonly Observation[] {
  const odd = call.attempts.findLast(attempt => statusOf(attempt) !== null && statusOf(attempt) !== 200);
  const status = odd && statusOf(odd);
  if (odd && call.attempts.at(-1) === odd)
    return [broken(`${story} was answered ${status}`, [odd], { expected: EXPECTED, actual: String(status) })];
  return onTaken(call, story);
}

/** What was asked, and what the answer was. */
function spotsOf({ attempts }: CallEvidence, result: Leg): readonly Spot[] {
  const asked = attempts.flatMap(attempt => [sent(attempt, 'operation'), sent(attempt, 'arguments')]);
  return [...asked, sent(result, 'text')];
}

function onTaken(call: CallEvidence, story: string): readonly Observation[] {
  const ending = endingOf(call);
  switch (ending.kind) {
    case 'result': {
      if (ending.isError) return [held([...call.attempts, ending.callback])];
      const actual = 'a result that is not an error';
      return [
        broken(`${story} ended in ${actual}`, [...call.attempts, ending.callback], {
          expected: EXPECTED,
          actual,
          spots: spotsOf(call, ending.callback),
        }),
      ];
    }
    case 'silent': {
      const actual = `200, and nothing within ${formatDuration(ending.afterMs)}`;
      return [lacking(`${story} was answered ${actual}`, call.attempts, { expected: EXPECTED, actual })];
    }
    case 'open':
      return [unseen(`${story} was still pending when the transcript ended`, call.attempts)];
    case 'called-off':
      return [];
    default:
      return [unseen(`${story} had no outcome that can be judged`, [...call.attempts, ...call.callbacks])];
  }
}

const STORIES = {
  'unknown-operation': 'an unknown operation',
  'bad-arguments': 'a call whose arguments do not match its inputSchema',
} as const;

/** TOOL-VALIDATE: invalid calls are not executed. TOOL-UNKNOWN-OP and TOOL-BAD-ARGS judge the answer. */
export const executesOnlyValidCalls: Rule = {
  id: 'TOOL-VALIDATE',
  masks: ['TOOL-UNKNOWN-OP', 'TOOL-BAD-ARGS'],
  absent: 'no call with an unknown operation or with invalid arguments was made',
  observe: evidence => onUnacceptable(evidence),
};

function onUnacceptable(evidence: Evidence): readonly Observation[] {
  const sound = soundResults(evidence);
  return evidence.calls.flatMap(call => {
    const why = unacceptable(call, evidence);
    return why === null || why === 'malformed' ? [] : onCall(call, STORIES[why], sound);
  });
}

function onCall(call: CallEvidence, story: string, sound: SoundResults): readonly Observation[] {
  const ending = endingOf(call);
  const work = told(call).find(({ message }) => message.type !== 'tool_result');
  if (work) return [onWork(work, ending, story)];
  if (ending.kind === 'refused') return [held([ending.attempt])];
  if (ending.kind !== 'result') return [];
  return [ending.isError ? held([ending.callback]) : onResult(ending, call, story, sound)];
}

/** An error in the end may be that of a look at it that began too early. */
function onWork({ message, callback }: Told, ending: Ending, story: string): Observation {
  const what = `${story} was started: a ${message.type} came`;
  const isError = ending.kind === 'result' && outcomeOfText(ending.text).type !== 'success';
  return isError ? doubtful(`${what}, and then an error`, [callback]) : broken(what, [callback]);
}

/** A refusal may be in any words, and any language: what is sure is the result of a valid call. */
function onResult(
  { callback, text }: Extract<Ending, { kind: 'result' }>,
  call: CallEvidence,
  story: string,
  sound: SoundResults,
): Observation {
  const proof = [...call.attempts, callback];
  const spots = spotsOf(call, callback);
  const difference = { expected: 'an error result', actual: 'a result that is not an error', spots };
  return sound(call).has(nameless(text, call))
    ? broken(`${story} was executed: its result is that of a valid call`, proof, difference)
    : doubtful(`${story} may have been executed: its result is not an error`, proof, difference);
}

/** TOOL-BAD-ARGS: 200, and then an error result. */
export const refusesBadArguments: Rule = {
  id: 'TOOL-BAD-ARGS',
  absent: 'no operation was called with arguments that do not match its inputSchema',
  observe: evidence =>
    evidence.calls
      .filter(call => unacceptable(call, evidence) === 'bad-arguments')
      .flatMap(call => onRefusable(call, 'a call with invalid arguments')),
};

/** TOOL-UNKNOWN-OP: 200, and then an error result. */
export const refusesUnknownOperations: Rule = {
  id: 'TOOL-UNKNOWN-OP',
  absent: 'no operation was called that is not in the toolset',
  observe: evidence =>
    evidence.calls
      .filter(call => unacceptable(call, evidence) === 'unknown-operation')
      .flatMap(call => onRefusable(call, 'an unknown operation')),
};

const STORY = 'a malformed payload';

/** TOOL-MALFORMED: 200, an error result if there is a callback URL, and never a crash. */
export const survivesMalformedPayloads: Rule = {
  id: 'TOOL-MALFORMED',
  masks: ['TOOL-ACK', 'TOOL-CLOSE', 'TOOL-CANCEL', 'TOOL-UNKNOWN-OP', 'TOOL-BAD-ARGS', 'TOOL-ALWAYS'],
  failsWhere: 'the tool crashes',
  absent: 'no malformed payload was sent',
  observe: evidence => {
    const malformed = evidence.calls.filter(isMalformed);
    return malformed.length === 0 ? [] : onMalformed(malformed, evidence);
  },
};

/** What was not kept may have been well-formed. */
function isMalformed({ reading, attempts: [first] }: CallEvidence): boolean {
  return !reading.ok && first !== undefined && !isBodyLost(first.request);
}

function onMalformed(malformed: readonly CallEvidence[], evidence: Evidence): readonly Observation[] {
  const end = onDeath(evidence, 'malformed', STORY);
  if (end) return [end];
  return malformed.flatMap(call => {
    const attempt = call.attempts.at(-1);
    if (!attempt) return [];
    return statusOf(attempt) === null ? onUnanswered(attempt, call) : onAnswered(attempt, call);
  });
}

function onUnanswered(attempt: Leg, call: CallEvidence): readonly Observation[] {
  const { broken: end } = attempt;
  const how = breakOf(attempt);
  if (call.isCutShort)
    return [unseen(`the tool crashed for another reason before it answered ${STORY}`, [attempt])];
  if (end?.phase === 'connect') return [unseen(`${STORY} could not be sent (${end.code})`, [attempt])];
  if (end && (how === 'cut' || how === 'failed'))
    return [broken(`the connection ended without an answer to ${STORY} (${end.code})`, [attempt])];
  return how === 'timed-out' || vainWait(call)
    ? [lacking(`${STORY} was not answered`, [attempt], { expected: '200' })]
    : [unseen(`${STORY} was never answered`, [attempt])];
}

function onAnswered(attempt: Leg, call: CallEvidence): readonly Observation[] {
  if (!call.reading.ok && call.reading.addressee) return onRefusable(call, STORY);
  const status = statusOf(attempt);
  if (status === 200 || (isUnreadable(attempt) && isRefusal(status))) return [held([attempt])];
  return [broken(`${STORY} was answered ${status}`, [attempt], { expected: '200', actual: String(status) })];
}

/** Bytes that are no text: nothing in them could be answered. */
function isUnreadable({ request: { body } }: Leg): boolean {
  return body?.json.ok === false && body.json.reason.includes('UTF-8');
}

function isRefusal(status: number | null): boolean {
  return status !== null && status >= 400 && status < 500;
}

/** What the calls of the same operation without extra fields came to. */
type Others = readonly Ending[];

const KNOWN: ReadonlySet<string> = new Set(Object.keys(invocationSchema.shape));

/** TOOL-EXTRA: a call with unknown fields ends like the same call without them. */
export const ignoresExtraFields: Rule = {
  id: 'TOOL-EXTRA',
  masks: ['TOOL-ACK'],
  absent: 'no well-formed invocation had fields beyond those of the protocol, and another to compare it with',
  observe: evidence => {
    const sound = evidence.calls.filter(call => unacceptable(call, evidence) === null);
    const plain = plainEndings(sound);
    return sound
      .filter(hasExtraFields)
      .flatMap(call => extraOnCall(call, plain.get(operationOf(call)) ?? []));
  },
};

function hasExtraFields({ attempts }: CallEvidence): boolean {
  const json = attempts[0]?.request.body?.json;
  return json?.ok === true && isRecord(json.value) && Object.keys(json.value).some(name => !KNOWN.has(name));
}

function extraOnCall(call: CallEvidence, others: Others): readonly Observation[] {
  const ending = endingOf(call);
  switch (ending.kind) {
    case 'asked':
      return [held([...call.attempts, ending.callback])];
    case 'result':
      return ending.isError ? onError(call, others) : [held([...call.attempts, ending.callback])];
    case 'refused':
      return [onRefused(call, ending.status, others)];
    case 'silent':
      return [onSilent(call, ending.afterMs, others)];
    case 'called-off':
      return [];
    default:
      return [unseen('the call had no outcome that can be judged', [...call.attempts, ...call.callbacks])];
  }
}

/** What has nothing to be compared with says nothing: whatever failed may fail without them, too. */
function onError(call: CallEvidence, others: Others): readonly Observation[] {
  const results = others.filter(({ kind }) => kind === 'result');
  const legs = [...call.attempts, ...call.callbacks.slice(0, 1)];
  if (results.some(each => each.kind === 'result' && !each.isError))
    return [broken('the call ended in an error, but succeeded without the extra fields', legs)];
  return results.length > 0 ? [held(legs)] : [];
}

function onSilent(call: CallEvidence, afterMs: number, others: Others): Observation {
  const what = `nothing within ${formatDuration(afterMs)}`;
  return others.some(({ kind }) => kind === 'result')
    ? lacking(`the call was dropped: ${what}`, call.attempts)
    : unseen(`${what}: ${ifItTakesLonger(call)}`, call.attempts);
}

function onRefused(call: CallEvidence, status: number, others: Others): Observation {
  const isUsual = others.some(each => each.kind === 'refused' && each.status === status);
  return isUsual
    ? held(call.attempts, `answered ${status}, as without the extra fields`)
    : broken(`the call was answered ${status}`, call.attempts, { expected: '200', actual: String(status) });
}

/** By operation, what calls without extra fields came to. */
function plainEndings(sound: Evidence['calls']): ReadonlyMap<string, Others> {
  const endings = new Map<string, Ending[]>();
  for (const call of sound.filter(each => !hasExtraFields(each))) {
    const known = endings.get(operationOf(call)) ?? [];
    known.push(endingOf(call));
    endings.set(operationOf(call), known);
  }
  return endings;
}

function operationOf({ reading }: CallEvidence): string {
  return reading.ok ? reading.invocation.operation : '';
}
