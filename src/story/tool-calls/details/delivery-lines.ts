import {
  type CallbackDelivery,
  type DeliveryAttempt,
  isDelivered,
  typeOfDelivery,
} from '../../../exchange/tool-call.js';
import { formatDuration } from '../../../text/format-duration.js';
import type { Redactor } from '../../../text/redact.js';
import type { Line, Span } from '../../line.js';
import { quote, say } from '../../spans.js';
import { faultOf, isTaken } from '../call-state.js';
import { elapsed } from '../elapsed.js';
import { bodyLines } from './body-lines.js';

/** One callback: its type, its attempts, its message. */
export function deliveryLines(delivery: CallbackDelivery, secrets: Redactor): Line[] {
  const { attempts, body } = delivery;
  const type = typeOfDelivery(delivery)?.toUpperCase() ?? 'NO MESSAGE';
  const [only] = attempts;
  const heading: Line = [...quote(type, 'title'), say(' ')];
  const message = bodyLines(body, secrets);
  if (attempts.length === 1 && only) return [[...heading, ...attemptSpans(only)], ...message];
  const sum = say(
    `${attempts.length} attempts`,
    isDelivered(delivery) || attempts.length === 0 ? 'dim' : 'warn',
  );
  return [
    [...heading, sum],
    ...attempts.map((attempt): Line => [say('  '), ...attemptSpans(attempt)]),
    ...message,
  ];
}

function attemptSpans(attempt: DeliveryAttempt): Span[] {
  const { at, endedAt, status } = attempt;
  const when = say(` at ${elapsed(at)}`, 'dim');
  if (endedAt === undefined) return [say('… on its way', 'running'), when];
  const took = say(` in ${formatDuration(endedAt - at)}`, 'dim');
  if (isTaken(status)) return [say('✓ ', 'good'), say(`answered ${status}`), took, when];
  return [say('✗ ', 'bad'), say(faultOf(attempt), 'bad'), took, when];
}
