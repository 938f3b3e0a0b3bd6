import type { Exchange } from '../../exchange/exchange.js';
import type { History } from '../../exchange/history.js';
import type { Log } from '../../exchange/log.js';
import type { Trouble } from '../../reporters/reporter.js';
import type { OpenListener } from '../../runtime/open-listener.js';
import { formatDuration } from '../../text/format-duration.js';
import type { ListenPlan } from './plan.js';

export interface Waited {
  readonly plan: ListenPlan;
  readonly log: Log;
  readonly history: History;
  readonly listener: OpenListener;
}

/** What was waited for and did not come in time, which then is a fact (RT-TIMEOUT); null where nothing was. */
export function shortfallOf({ plan, log, history, listener }: Waited): Trouble | null {
  const afterMs = plan.flags.timeout;
  const within = formatDuration(afterMs);
  const pending = [...listener.calls.expected].flatMap(key => pendingCall(history, key));
  log.emit({ kind: 'expired', what: 'timeout', afterMs, calls: pending.map(({ key }) => key) });
  const hint = `Give tools exactly this callback_url's address, at ${listener.url}; --timeout gives more time.`;
  if (pending.length > 0) {
    const faults = pending.map(({ invocation }) => `group_id ${invocation.group_id}, id ${invocation.id}`);
    return { code: 'timeout', message: `no result within ${within} for what was expected`, faults, hint };
  }
  if (plan.count === null) return null;
  return { code: 'timeout', message: `fewer than ${plan.count} results within ${within}`, hint };
}

function pendingCall({ exchanges }: History, key: string): Exchange[] {
  const exchange = exchanges.get(key);
  return exchange && !exchange.settled ? [exchange] : [];
}
