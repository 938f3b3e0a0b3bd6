import type { Outcome } from '../outcome/outcome.js';
import type { FailureCode } from '../story/failure.js';

/** The exit statuses. Help is generated from this table; a test compares README and guides with it. */
export const EXIT_STATUSES = {
  0: 'success',
  1: 'a check or a verification failed',
  2: 'usage: a wrong option, file, operation or argument',
  3: 'incomplete: nothing could be checked, or a prerequisite is missing',
  4: 'unreachable, no discovery document, or the acknowledgement was not 200',
  5: 'the outcome is error, denied, canceled, timeout or unknown',
  6: 'a decision is needed and no terminal is attached',
  7: 'no result in time',
  129: 'hung up (SIGHUP)',
  130: 'interrupted (SIGINT)',
  143: 'terminated (SIGTERM)',
} as const;

export type ExitStatus = keyof typeof EXIT_STATUSES;

const BY_FAILURE: Readonly<Record<FailureCode, ExitStatus>> = {
  usage: 2,
  'unreadable-file': 2,
  'unwritable-file': 2,
  'unknown-operation': 2,
  'invalid-arguments': 2,
  'invalid-toolset': 2,
  'invalid-fixtures': 2,
  'port-in-use': 2,
  'command-failed': 4,
  unreachable: 4,
  'no-discovery': 4,
  'refused-address': 4,
  'bad-acknowledgement': 4,
  'platform-refused': 4,
  'bad-answer': 4,
  'session-failed': 5,
  declined: 5,
  denied: 5,
  'decision-needed': 6,
  timeout: 7,
  interrupted: 130,
};

const BY_SIGNAL = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

export function statusOfFailure(code: FailureCode): ExitStatus {
  return BY_FAILURE[code];
}

export function statusOfOutcome(type: Outcome['type']): ExitStatus {
  return type === 'success' ? 0 : 5;
}

export function statusOfSignal(signal: keyof typeof BY_SIGNAL): ExitStatus {
  return BY_SIGNAL[signal];
}
