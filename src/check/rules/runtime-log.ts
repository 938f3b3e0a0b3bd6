import type { Finding } from '../../protocol/driver.js';
import type { CallEvidence } from '../call.js';
import { messagesOf } from '../recorded-call.js';
import { defineRules, inconclusive, met, type Observed, violatedIfComplete } from '../rule.js';
import { faultLine } from '../rule-details.js';

/** What a runtime writes to its log. */
export const runtimeLogRules = defineRules({
  'RT-AUDIT': {
    level: 'SHOULD',
    statement: 'logs invocations with operation, time and outcome, and results that match no pending call',
    advice: 'Log each invocation with its operation, time and outcome, and each result that you discard.',
    invocationPage:
      'Runtimes SHOULD log tool invocations for audit purposes, including the operation name, timestamp, and outcome.',
    absent: "only check --runtime with --log <file> reads the runtime's own log",
    observe: ({ calls, driver }) =>
      driver
        ?.findings('log')
        .map(({ message }) => [judgeLog(calls, message), judgeDiscards(calls, message)]) ?? null,
  },
});

/** @param log the operations of the scenario that the runtime's log mentions */
function judgeLog(calls: readonly CallEvidence[], log: Finding<'log'>): Observed {
  const { operations, untimed = [], unended = [], isWhole } = log;
  return calls.map(({ invocation, attempts: [first] }) => {
    if (!invocation || !first) return null;
    const { operation } = invocation;
    const details = { faults: [faultLine(operation)] };
    if (!isWhole && !operations.includes(operation))
      return inconclusive('a part of the log is missing', first);
    if (!operations.includes(operation))
      return violatedIfComplete('the log does not name operations that were called', first, details);
    if (!isWhole) return met(first);
    return [
      untimed.includes(operation)
        ? violatedIfComplete('the log has no time of operations', first, details)
        : met(first),
      unended.includes(operation)
        ? violatedIfComplete('the log has no outcome of operations', first, details)
        : null,
    ];
  });
}

function judgeDiscards(
  calls: readonly CallEvidence[],
  { undiscarded = [], isWhole }: Finding<'log'>,
): Observed {
  const discarded = calls
    .flatMap(call => messagesOf(call, 'tool_result'))
    .filter(({ callback }) => callback.verdict?.kind === 'discarded' && callback.response !== null);
  return discarded.map(({ callback, message: { group_id, id } }) => {
    const name = `${group_id}/${id}`;
    if (!isWhole || !undiscarded.includes(name)) return null;
    const what = 'the log does not name results that match no pending call';
    return violatedIfComplete(what, callback, { faults: [faultLine(name)] });
  });
}
