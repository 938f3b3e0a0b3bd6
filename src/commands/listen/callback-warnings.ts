import type { Warning } from '../../protocol/requirements.js';
import { panesOf } from '../../story/panes.js';
import { arrivalWarnings } from '../../story/warnings.js';
import type { Heard } from './heard.js';

type HeardCallback = Extract<Heard, { kind: 'callback' }>;

/** What is worth a warning besides the verdict, which is told anyway. */
export function callbackWarnings(
  { exchange, arrival }: HeardCallback,
  supports: ReadonlySet<string>,
): readonly Warning[] {
  const { verdict, warnings } = arrival;
  if (verdict.kind === 'duplicate') return verdict.identical ? [] : arrivalWarnings(arrival, exchange);
  const panes = verdict.kind === 'settles' ? panesOf(exchange, supports) : null;
  return [...warnings, ...(panes?.warnings ?? [])];
}
