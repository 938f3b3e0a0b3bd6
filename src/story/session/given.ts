import { sessionDialect } from '../../dialects/session.js';
import type { Content } from '../../exchange/content.js';
import { outcomeOf } from '../../exchange/ending.js';
import type { JudgedOutcome } from '../../outcome/outcome.js';
import { compactJson } from '../../text/compact-json.js';
import { onceEach } from '../../text/once-each.js';
import type { KnownCall } from './known.js';

/** What the agent is given for a call. */
export interface Given {
  readonly outcome: JudgedOutcome;
  /** What the model gets; null where that is not known. */
  readonly text: string | null;
}

/**
 * How a call was answered; null where it is not. An `error_event` does not say which kind of failure it was, and a `tool_result`
 * not that its success was assumed: where a tool was invoked for it, that is known from there.
 */
export function givenOf({ call, exchange }: KnownCall): Given | null {
  if (!call.answer) return null;
  const given = call.answer.body ? readOnce(call.answer.body) : UNREAD;
  const known = exchange ? outcomeOf(exchange) : call.ours;
  return known && isSaidBy(given.outcome, known) ? { ...given, outcome: known } : given;
}

/** Whether what is posted is this wire's word for an outcome: it has one for success, and one for all else. */
function isSaidBy({ type }: JudgedOutcome, known: JudgedOutcome): boolean {
  return type === (known.type === 'success' ? 'success' : 'error');
}

const UNREAD: Given = { outcome: { type: 'unknown', raw: null, basis: 'assumed' }, text: null };

/** A body may have 5 MiB. */
const readOnce = onceEach(read);

function read({ json }: Content): Given {
  if (!json.ok) return UNREAD;
  const reading = sessionDialect.read(json.value);
  if (!reading.ok) return { ...UNREAD, text: compactJson(json.value) };
  return { outcome: reading.answer.outcome, text: reading.text };
}
