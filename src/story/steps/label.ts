import type { History } from '../../exchange/history.js';
import { say } from '../spans.js';
import { clipped } from '../tool-calls/clip.js';
import type { Step } from './step.js';

/**
 * Says whose steps they are, where several calls are told of at once.
 * @param isOfMany whether there are several, as far as is known
 */
export function labelled(
  { exchanges }: History,
  key: string | undefined,
  steps: Step[],
  isOfMany = exchanges.size > 1,
): Step[] {
  const exchange = key === undefined || !isOfMany ? undefined : exchanges.get(key);
  if (!exchange) return steps;
  const label = [...clipped(exchange.invocation.id, 'dim'), say(': ', 'dim')];
  return steps.map(step => ({
    ...step,
    line: [...label, ...step.line],
    ...(step.lines && { lines: step.lines.with(0, [...label, ...(step.lines[0] ?? [])]) }),
  }));
}
