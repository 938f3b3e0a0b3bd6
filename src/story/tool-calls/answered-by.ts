import type { ToolCall } from '../../exchange/tool-call.js';
import type { Line } from '../line.js';
import { quote, say } from '../spans.js';

/** Which fixture or handler answers a call; why none does; nothing where that is not known yet. */
export function answeredBy({ answeredBy, plans, warnings }: ToolCall): Line {
  if (answeredBy !== null) return quote(answeredBy);
  if (plans.includes('rate-limit')) return [say('over the rate limit', 'warn')];
  if (plans.some(plan => plan.startsWith('ack '))) return [say('a fault', 'warn')];
  return warnings.length > 0 ? [say('no fixture', 'warn')] : [];
}
