import type { Fact } from '../../exchange/events.js';
import type { Log } from '../../exchange/log.js';
import { typeOf } from '../delivery/callback.js';
import { isLast } from './open-call.js';
import type { Recovered } from './recovery.js';

/** Tells of a call that an earlier run began, as far as whoever looks at this one must know it: who called, who answers, and its result. */
export function retell({ key, thread, invocation, headers, matched, rendered }: Recovered, log: Log): void {
  const emit = (fact: Fact) => log.emit({ ...fact, calls: [key], thread, earlier: true });
  const request = { kind: 'request', method: 'POST', attempt: 1 } as const;
  const called = { from: 'runtime', to: 'tool', purpose: 'invocation' } as const;
  emit({ ...request, ...called, leg: log.leg(), url: '', headers: { ...headers }, body: invocation });
  if (matched) emit({ ...matched });
  for (const { url, body, state } of rendered)
    if (state === 'delivered' && isLast(typeOf(body))) {
      const leg = log.leg();
      const said = { from: 'tool', to: 'runtime', purpose: 'callback' } as const;
      emit({ ...request, ...said, leg, url, headers: {}, body });
      emit({ kind: 'response', leg, status: 200, headers: {} });
    }
}
