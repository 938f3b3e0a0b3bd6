import { outcomeOfText } from '../../protocol/outcome.js';
import { invocationSchema } from '../../protocol/read-invocation.js';
import { formatDuration } from '../../util/text.js';
import { isRecord } from '../../util/values.js';
import { type CallEvidence, type Ending, isBodyLost, type RoundTrip } from '../call.js';
import {
  broken,
  crash,
  defineRules,
  doubtful,
  held,
  invocationPage,
  lacking,
  type Observation,
  type Spot,
  sent,
  unseen,
} from '../rule.js';
import { raiseTimeout } from './delivery.js';

const VALIDATION = invocationPage(
  'For any validation failure — malformed payload, unknown operation, invalid arguments — the tool SHOULD still return HTTP 200 to acknowledge receipt, then deliver the error asynchronously as a tool result with an error description.',
);

const EXPECTED = '200, and an error result';

const MALFORMED = 'a malformed payload';

export const argumentRules = defineRules({
  'TOOL-VALIDATE': {
    level: 'MUST',
    statement: 'never executes an unknown operation, or arguments that do not match the inputSchema',
    advice:
      'Look up the operation and validate the arguments against its inputSchema before you do anything else.',
    source: invocationPage(
      'Upon receiving an invocation, the tool MUST validate that the operation field references a supported operation.',
    ),
    masks: ['TOOL-UNKNOWN-OP', 'TOOL-BAD-ARGS'],
    absent: 'no call with an unknown operation or with invalid arguments was made',
    observe: ({ calls }) => {
      const isValidResult = resultsOfValidCalls(calls);
      return calls.flatMap(call => {
        if (call.flaw === 'unknown-operation')
          return onExecution(call, 'an unknown operation', isValidResult);
        return call.flaw === 'bad-arguments'
          ? onExecution(call, 'a call whose arguments do not match its inputSchema', isValidResult)
          : [];
      });
    },
  },
  'TOOL-UNKNOWN-OP': {
    level: 'SHOULD',
    statement: 'answers an unknown operation with 200 and an error result',
    advice:
      'Answer 200, then send a tool_result that starts with “Error: ” and lists the available operations.',
    source: VALIDATION,
    absent: 'no operation was called that is not in the toolset',
    observe: ({ calls }) =>
      calls
        .filter(({ flaw }) => flaw === 'unknown-operation')
        .flatMap(call => onRefusal(call, 'an unknown operation')),
  },
  'TOOL-BAD-ARGS': {
    level: 'SHOULD',
    statement: 'answers arguments that do not match the inputSchema with 200 and an error result',
    advice: 'Answer 200, then send a tool_result that starts with “Error: ” and names the invalid argument.',
    source: VALIDATION,
    absent: 'no operation was called with arguments that do not match its inputSchema',
    observe: ({ calls }) =>
      calls
        .filter(({ flaw }) => flaw === 'bad-arguments')
        .flatMap(call => onRefusal(call, 'a call with invalid arguments')),
  },
  'TOOL-MALFORMED': {
    level: 'SHOULD',
    statement: 'survives a malformed payload: 200, and an error result if it has a callback URL',
    advice: 'Catch parse errors: answer 200, and send an error result if there is a callback_url.',
    source: VALIDATION,
    masks: ['TOOL-ACK', 'TOOL-CLOSE', 'TOOL-CANCEL', 'TOOL-UNKNOWN-OP', 'TOOL-BAD-ARGS', 'TOOL-ALWAYS'],
    failsWhere: 'the tool crashes',
    absent: 'no malformed payload was sent',
    observe: evidence => {
      const malformed = evidence.calls.filter(
        ({ invocation, attempts: [first] }) => !invocation && first && !isBodyLost(first.request),
      );
      const end = malformed.length > 0 ? crash(evidence, 'malformed', MALFORMED) : null;
      return end ? [end] : malformed.flatMap(onMalformed);
    },
  },
  'TOOL-EXTRA': {
    level: 'SHOULD',
    statement: 'ignores unknown extra fields in the invocation',
    advice:
      'Read the fields that you know and ignore all others; do not use a strict schema for the invocation.',
    masks: ['TOOL-ACK'],
    absent:
      'no well-formed invocation had fields beyond those of the protocol, and another to compare it with',
    observe: ({ calls }) => {
      const plain = new Map<string, Ending[]>();
      const valid = calls.filter(({ flaw }) => flaw === null);
      for (const call of valid.filter(each => !hasExtraFields(each))) {
        const operation = call.invocation?.operation ?? '';
        const endings = plain.get(operation);
        if (endings) endings.push(call.ending);
        else plain.set(operation, [call.ending]);
      }
      return valid
        .filter(hasExtraFields)
        .flatMap(call => onExtraFields(call, plain.get(call.invocation?.operation ?? '') ?? []));
    },
  },
});

/** Tells whether a call got the result of a valid call of the same operation; for an unknown operation, of any operation. */
function resultsOfValidCalls(calls: readonly CallEvidence[]): (call: CallEvidence, text: string) => boolean {
  const all = new Set<string>();
  const byTool = new Map<string, Set<string>>();
  for (const call of calls) {
    const { ending, flaw, tool } = call;
    if (flaw !== null || ending.kind !== 'result' || ending.isError) continue;
    const text = withoutNames(ending.text, call);
    all.add(text);
    byTool.set(tool?.name ?? '', (byTool.get(tool?.name ?? '') ?? new Set()).add(text));
  }
  return (call, text) => {
    const known = call.tool ? byTool.get(call.tool.name) : all;
    return known?.has(withoutNames(text, call)) === true;
  };
}

/** Removes the ids of the call, which differ in each. */
function withoutNames(text: string, { invocation }: CallEvidence): string {
  const { id = '', group_id = '', call_id } = invocation ?? {};
  return [id, group_id, call_id ?? '']
    .filter(name => name !== '')
    .reduce((rest, name) => rest.replaceAll(name, ''), text);
}

/** A refusal can be in any words and any language: only the result of a valid call proves the execution. */
function onExecution(
  call: CallEvidence,
  subject: string,
  isValidResult: ReturnType<typeof resultsOfValidCalls>,
): readonly Observation[] {
  const { ending } = call;
  const other = call.received.find(({ message }) => message.type !== 'tool_result');
  if (other) {
    const what = `${subject} was started: a ${other.message.type} came`;
    const isError = ending.kind === 'result' && outcomeOfText(ending.text).type !== 'success';
    return [isError ? doubtful(`${what}, and then an error`, other.callback) : broken(what, other.callback)];
  }
  if (ending.kind === 'refused') return [held(ending.attempt)];
  if (ending.kind !== 'result') return [];
  const { callback, text, isError } = ending;
  if (isError) return [held(callback)];
  const proof = [...call.attempts, callback];
  const spots = spotsOf(call, callback);
  const details = { expected: 'an error result', actual: 'a result that is not an error', spots };
  return isValidResult(call, text)
    ? [broken(`${subject} was executed: its result is that of a valid call`, proof, details)]
    : [doubtful(`${subject} may have been executed: its result is not an error`, proof, details)];
}

/** What was requested, and the result. */
function spotsOf({ attempts }: CallEvidence, result: RoundTrip): readonly Spot[] {
  const requested = attempts.flatMap(attempt => [sent(attempt, 'operation'), sent(attempt, 'arguments')]);
  return [...requested, sent(result, 'text')];
}

/** An invalid call should be answered 200 and end in an error result. */
function onRefusal(call: CallEvidence, subject: string): readonly Observation[] {
  const { attempts, callbacks, ending } = call;
  const last = attempts.at(-1);
  if (last && last.status !== null && last.status !== 200)
    return [
      broken(`${subject} was answered ${last.status}`, last, {
        expected: EXPECTED,
        actual: String(last.status),
      }),
    ];
  switch (ending.kind) {
    case 'result': {
      const proof = [...attempts, ending.callback];
      if (ending.isError) return [held(proof)];
      const actual = 'a result that is not an error';
      const spots = spotsOf(call, ending.callback);
      return [broken(`${subject} ended in ${actual}`, proof, { expected: EXPECTED, actual, spots })];
    }
    case 'silent': {
      const actual = `200, and nothing within ${formatDuration(ending.afterMs)}`;
      return [lacking(`${subject} was answered ${actual}`, attempts, { expected: EXPECTED, actual })];
    }
    case 'open':
      return [unseen(`${subject} was still pending when the transcript ended`, attempts)];
    case 'called-off':
      return [];
    default:
      return [unseen(`${subject} had no outcome that can be judged`, [...attempts, ...callbacks])];
  }
}

function onMalformed(call: CallEvidence): readonly Observation[] {
  const attempt = call.attempts.at(-1);
  if (!attempt) return [];
  if (attempt.status === null) return [onUnansweredMalformed(attempt, call)];
  if (!call.reading.ok && call.reading.addressee) return onRefusal(call, MALFORMED);
  const json = attempt.request.body?.json;
  const isNotText = json?.ok === false && json.reason.includes('UTF-8');
  if (attempt.status === 200 || (isNotText && attempt.isRefused)) return [held(attempt)];
  const details = { expected: '200', actual: String(attempt.status) };
  return [broken(`${MALFORMED} was answered ${attempt.status}`, attempt, details)];
}

function onUnansweredMalformed(attempt: RoundTrip, { isCutShort, timeout }: CallEvidence): Observation {
  const { broken: error, failure } = attempt;
  if (isCutShort)
    return unseen(`the tool crashed for another reason before it answered ${MALFORMED}`, attempt);
  if (error?.phase === 'connect') return unseen(`${MALFORMED} could not be sent (${error.code})`, attempt);
  if (error && (failure === 'cut' || failure === 'failed'))
    return broken(`the connection ended without an answer to ${MALFORMED} (${error.code})`, attempt);
  return failure === 'timed-out' || timeout
    ? lacking(`${MALFORMED} was not answered`, attempt, { expected: '200' })
    : unseen(`${MALFORMED} was never answered`, attempt);
}

const KNOWN_FIELDS: ReadonlySet<string> = new Set(Object.keys(invocationSchema.shape));

function hasExtraFields({ attempts: [first] }: CallEvidence): boolean {
  return isRecord(first?.sentJson) && Object.keys(first.sentJson).some(name => !KNOWN_FIELDS.has(name));
}

/** Compares the call with calls of the same operation without extra fields: an operation may fail anyway. */
function onExtraFields(call: CallEvidence, others: readonly Ending[]): readonly Observation[] {
  const { attempts, callbacks, ending } = call;
  const otherResults = others.filter(each => each.kind === 'result');
  switch (ending.kind) {
    case 'asked':
      return [held([...attempts, ending.callback])];
    case 'result':
      if (!ending.isError) return [held([...attempts, ending.callback])];
      if (otherResults.some(({ isError }) => !isError))
        return [
          broken('the call ended in an error, but succeeded without the extra fields', [
            ...attempts,
            ...callbacks.slice(0, 1),
          ]),
        ];
      return otherResults.length > 0 ? [held([...attempts, ...callbacks.slice(0, 1)])] : [];
    case 'refused':
      return others.some(each => each.kind === 'refused' && each.status === ending.status)
        ? [held(attempts, `answered ${ending.status}, as without the extra fields`)]
        : [
            broken(`the call was answered ${ending.status}`, attempts, {
              expected: '200',
              actual: String(ending.status),
            }),
          ];
    case 'silent': {
      const what = `nothing within ${formatDuration(ending.afterMs)}`;
      return otherResults.length > 0
        ? [lacking(`the call was dropped: ${what}`, attempts)]
        : [unseen(`${what}: ${raiseTimeout(call)}`, attempts)];
    }
    case 'called-off':
      return [];
    default:
      return [unseen('the call had no outcome that can be judged', [...attempts, ...callbacks])];
  }
}
