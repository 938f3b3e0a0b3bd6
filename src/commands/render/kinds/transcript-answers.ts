import { readAs } from '../../../dialects/index.js';
import { answerOf } from '../../../exchange/answer.js';
import type { Content } from '../../../exchange/content.js';
import type { Event } from '../../../exchange/events.js';
import type { Exchange } from '../../../exchange/exchange.js';
import type { SavedAnswer } from './kind.js';

/** The answers that a transcript holds: what an agent session was given, else the results of the calls. */
export function transcriptAnswers(events: readonly Event[], exchanges: readonly Exchange[]): SavedAnswer[] {
  const settled = events.flatMap(settledCall);
  return settled.length > 0 ? settled : resultsOf(events, exchanges);
}

function settledCall(event: Event): SavedAnswer[] {
  const body = event.kind === 'answered' ? event.body : undefined;
  const reading = body?.json.ok ? readAs('session', body.json.value) : null;
  return body && reading?.ok ? [{ ...reading, source: textOf(body) }] : [];
}

/** A body is read once, so that its value is known again. */
function resultsOf(events: readonly Event[], exchanges: readonly Exchange[]): SavedAnswer[] {
  const bodies = new Map<unknown, Content>();
  for (const event of events) {
    const body = 'body' in event ? event.body : undefined;
    if (body?.json.ok) bodies.set(body.json.value, body);
  }
  return exchanges.flatMap(exchange => {
    const answer = answerOf(exchange);
    const body = answer?.native === undefined ? undefined : bodies.get(answer.native);
    return answer ? [{ ...answer, ...(body && { source: textOf(body) }) }] : [];
  });
}

const textOf = ({ bytes }: Content) => new TextDecoder().decode(bytes);
