import type { Exchange } from '../events/exchange.js';
import type { History } from '../events/history.js';
import type { UntrackedRequest } from '../events/untracked-requests.js';
import { type Line, line, quote } from './line.js';
import { labelledStep, type Step } from './step.js';

/** The steps in progress: a discovery, and what each pending call waits for. */
export function runningSteps(history: History): Step[] {
  return openSteps(history, discoveringStep, waitingStep).sort((one, other) => one.at - other.at);
}

/** What the recording of a conversation does not have: the answer to a discovery, and the end of each call. @param at of its last event */
export function missingSteps(history: History, at: number): Step[] {
  const missing = (what: Line): Step => ({
    at,
    state: 'failed',
    lines: [line`no ${what} in this recording`],
  });
  return openSteps(
    history,
    ({ leg, url }) => ({ ...missing(line`answer from ${quote(url)}`), leg }),
    call => missing(line`${call.waitingFor ? 'answer to the question' : missingPart(call)}`),
  );
}

/** A step for each discovery without an answer and for each pending call. */
function openSteps(
  { exchanges, untracked }: History,
  ofDiscovery: (request: UntrackedRequest) => Step,
  ofCall: (call: Exchange) => Step,
): Step[] {
  const discoveries = untracked
    .values()
    .filter(({ purpose, endedAt }) => purpose === 'discovery' && endedAt === undefined);
  const calls = [...exchanges.values()].filter(({ settled }) => settled === null);
  return [
    ...discoveries.map(ofDiscovery),
    ...calls.map(call => labelledStep(ofCall(call), call, exchanges.size > 1)),
  ];
}

function discoveringStep({ leg, at, url }: UntrackedRequest): Step {
  // The endpoint of a server started here contains its command.
  const program = /^stdio:(.*)$/.exec(url)?.[1];
  const words = program === undefined ? line`asking ${quote(url)}` : line`starting ${quote(program)}`;
  return { at, state: 'running', lines: [words], leg };
}

function waitingStep(call: Exchange): Step {
  const words = line`waiting for ${call.waitingFor ? 'you' : `the ${missingPart(call)}`}`;
  return { at: waitingSince(call), state: 'running', lines: [words] };
}

function missingPart({ attempts, dialect }: Exchange): 'acknowledgement' | 'result' {
  const last = attempts.at(-1);
  return dialect !== 'mcp' && last !== undefined && last.endedAt === undefined ? 'acknowledgement' : 'result';
}

function waitingSince({ attempts }: Exchange): number {
  const last = attempts.at(-1);
  return last?.endedAt ?? last?.sentAt ?? 0;
}
