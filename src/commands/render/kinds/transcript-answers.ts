import { readAs } from '../../../dialects/index.js';
import { answerOf } from '../../../exchange/answer.js';
import type { Content } from '../../../exchange/content.js';
import type { Event } from '../../../exchange/events.js';
import type { Exchange } from '../../../exchange/exchange.js';
import { givenOf } from '../../../story/session/given.js';
import type { KnownCall } from '../../../story/session/known.js';
import type { SavedAnswer } from './kind.js';

/** The answers that a transcript holds: what agent sessions were given for these calls, else the results of the exchanges. */
export function transcriptAnswers(
  events: readonly Event[],
  exchanges: readonly Exchange[],
  calls: readonly KnownCall[],
): SavedAnswer[] {
  const settled = calls.flatMap(settledCall);
  return settled.length > 0 ? settled : resultsOf(events, exchanges);
}

/** An `error_event` does not say which kind of failure it was: that is known as the report of the same run knows it. */
function settledCall(known: KnownCall): SavedAnswer[] {
  const body = known.call.answer?.body;
  const reading = body?.json.ok ? readAs('session', body.json.value) : null;
  const given = givenOf(known);
  if (!body || !given || !reading?.ok) return [];
  return [{ ...reading, answer: { ...reading.answer, outcome: given.outcome }, source: textOf(body) }];
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
