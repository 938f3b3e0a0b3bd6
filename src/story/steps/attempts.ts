import type { Attempt, Exchange } from '../../exchange/exchange.js';
import { bytesText } from '../../text/bytes-text.js';
import { quote, say } from '../spans.js';
import { clipped } from '../tool-calls/clip.js';
import { after, type Step, step } from './step.js';

/** A dispatch of the invocation. */
export function sentStep(
  { invocation, endpoint, attempts, shown }: Exchange,
  { leg, sentAt }: Attempt,
): Step {
  const index = attempts.findIndex(attempt => attempt.leg === leg);
  const again = index > 0 ? ` again (attempt ${index + 1})` : '';
  return step(
    `sent:${leg}`,
    sentAt,
    'done',
    say(`sent${again} `),
    ...quote(invocation.operation, 'title'),
    ...(shown === undefined ? [] : [say(' ('), ...clipped(shown), say(')')]),
    say(' to '),
    ...quote(endpoint),
  );
}

/** What became of a dispatch, once that is known. */
export function answerSteps(
  { dialect, settled }: Exchange,
  { leg, sentAt, endedAt, status, broken, bodySize = 0 }: Attempt,
): Step[] {
  if (endedAt === undefined) return [];
  const took = after(endedAt - sentAt);
  const key = `answer:${leg}`;
  if (settled?.by === 'answer') return [step(key, endedAt, 'done', say('result'), took)];
  if (dialect === 'mcp' && broken) {
    const isOurs = settled?.by === 'cancel' || settled?.by === 'timeout';
    return isOurs ? [] : [step(key, endedAt, 'failed', say('not answered: '), ...quote(broken.code), took)];
  }
  if (status === 200) {
    const body = bodySize > 0 ? ` and a body of ${bytesText(bodySize)}` : '';
    return [step(key, endedAt, 'done', say(`acknowledged with 200${body}`), took)];
  }
  const answer =
    status === undefined
      ? [say('not acknowledged: '), ...quote(broken?.code ?? 'broken')]
      : [say(`answered ${status} instead of 200`)];
  return [step(key, endedAt, 'failed', ...answer, took)];
}
