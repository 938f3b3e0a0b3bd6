import type { Event } from '../../exchange/events.js';
import { valueAt } from '../../text/value-at.js';
import { isProbe } from './unprobed.js';

/** The operations that a check was offered and has not called, each once; none where no check was made. */
export function notCalled(events: readonly Event[]): readonly string[] {
  const called = new Set(events.map(operationOf));
  const isCheck = events.some(isProbe);
  const offered = events.flatMap(event => (event.kind === 'loaded' ? event.operations : []));
  return isCheck ? [...new Set(offered)].filter(name => !called.has(name)) : [];
}

function operationOf(event: Event): unknown {
  const body = event.kind === 'request' && event.purpose === 'invocation' ? event.body : undefined;
  return body?.json.ok ? valueAt(body.json.value, 'operation') : undefined;
}
