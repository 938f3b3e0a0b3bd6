import type { ToolCall } from '../../../exchange/tool-call.js';
import type { Line } from '../../line.js';
import { say } from '../../spans.js';
import { clipped } from '../clip.js';
import { secretsOf } from '../secrets.js';
import { deliveryLines } from './delivery-lines.js';
import { invocationLines } from './invocation-lines.js';

/** Everything about one call: what came, and each callback with its message. Depends on nothing but the call. */
export function detailLines(call: ToolCall): Line[] {
  const { deliveries, dropped, forgotten } = call;
  const secrets = secretsOf(call);
  return [
    ...invocationLines(call, secrets),
    ...(forgotten > 0 ? [[], [say(`${forgotten} earlier callbacks are not remembered`, 'dim')]] : []),
    ...deliveries.flatMap(delivery => [[], ...deliveryLines(delivery, secrets)]),
    ...(dropped.length > 0 ? [[]] : []),
    ...dropped.map((why): Line => [say('✗ given up: ', 'bad'), ...clipped(secrets.text(why), 'bad', 2_000)]),
  ];
}
