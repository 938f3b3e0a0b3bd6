import { outcomeOf } from '../../exchange/ending.js';
import type { Arrival, Attempt, Exchange } from '../../exchange/exchange.js';
import { formatDuration } from '../../text/format-duration.js';
import type { Line } from '../line.js';
import { quote, say } from '../spans.js';
import { after, type Step, step } from './step.js';

/** One call: its dispatch, what came back for it, and how it ended or what it waits for. */
export function callSteps(exchange: Exchange): Step[] {
  return [
    ...exchange.attempts.flatMap((attempt, index) => attemptSteps(exchange, attempt, index)),
    ...exchange.arrivals.map(arrival => arrivalStep(exchange, arrival)),
    ...endSteps(exchange),
  ];
}

function attemptSteps(exchange: Exchange, attempt: Attempt, index: number): Step[] {
  const { invocation, endpoint } = exchange;
  const again = index > 0 ? ` again (attempt ${index + 1})` : '';
  const sent = step(
    `sent:${attempt.leg}`,
    attempt.sentAt,
    'done',
    say(`sent${again} `),
    ...quote(invocation.operation, 'title'),
    say(' to '),
    ...quote(endpoint),
  );
  return attempt.endedAt === undefined ? [sent] : [sent, answerStep(attempt, attempt.endedAt)];
}

function answerStep({ leg, sentAt, status, broken }: Attempt, endedAt: number): Step {
  const took = after(endedAt - sentAt);
  if (status === 200) return step(`answer:${leg}`, endedAt, 'done', say('acknowledged with 200'), took);
  if (status !== undefined)
    return step(`answer:${leg}`, endedAt, 'failed', say(`answered ${status} instead of 200`), took);
  return step(`answer:${leg}`, endedAt, 'failed', say(`not acknowledged: ${broken?.code ?? 'broken'}`), took);
}

function arrivalStep(exchange: Exchange, { leg, at, verdict, message }: Arrival): Step {
  const since = after(at - (exchange.attempts[0]?.sentAt ?? at));
  const what = message?.type ?? 'callback';
  switch (verdict.kind) {
    case 'settles':
      return step(`arrival:${leg}`, at, 'done', say('result'), since);
    case 'holds':
      return step(`arrival:${leg}`, at, 'note', ...question(message));
    case 'noted':
      return step(`arrival:${leg}`, at, 'note', ...news(message), since);
    case 'duplicate':
      return step(
        `arrival:${leg}`,
        at,
        'note',
        say(`${what} ${verdict.identical ? 'delivered again' : 'with other content'}; the first counts`),
        since,
      );
    case 'late':
      return step(
        `arrival:${leg}`,
        at,
        'note',
        say(`${what} came after the call had ended; it changes nothing`),
        since,
      );
    default:
      return step(
        `arrival:${leg}`,
        at,
        'failed',
        say(`${what} ${verdict.kind} with ${verdict.status}: `),
        ...quote(verdict.reason),
      );
  }
}

function news(message: Arrival['message']): Line {
  if (message?.type === 'subscription_event')
    return [say(message.final ? 'last event: ' : 'event: '), ...quote(message.text)];
  if (message?.type === 'view_update')
    return [say('view '), ...quote(message.view_type, 'title'), say(' updated')];
  return [say(message?.type ?? 'callback')];
}

function question(message: Arrival['message']): Line {
  if (message?.type === 'oauth')
    return [say('visit '), ...quote(message.auth_url, 'title'), say(' to go on')];
  if (message?.type !== 'user_choice') return [];
  const choices = message.choices.flatMap((choice, index) => [say(`  ${index} `, 'dim'), ...quote(choice)]);
  return [say('the tool asks: '), ...quote(message.prompt, 'title'), ...choices];
}

function endSteps(exchange: Exchange): Step[] {
  const { settled, waitingFor, attempts, key } = exchange;
  const last = attempts.at(-1);
  if (settled === null) {
    const what = waitingFor
      ? 'waiting for you'
      : last?.endedAt === undefined
        ? 'waiting for the acknowledgement'
        : 'waiting for the result';
    return [step(`end:${key}`, last?.endedAt ?? last?.sentAt ?? 0, 'running', say(what))];
  }
  const outcome = outcomeOf(exchange);
  if (settled.by === 'result')
    return outcome?.type === 'success'
      ? []
      : [step(`end:${key}`, settled.at, 'failed', say(`outcome ${outcome?.type} (by ${outcome?.basis})`))];
  if (settled.by === 'timeout')
    return [
      step(`end:${key}`, settled.at, 'failed', say(`no result within ${formatDuration(settled.afterMs)}`)),
    ];
  if (settled.by === 'cancel') return [step(`end:${key}`, settled.at, 'failed', say('interrupted'))];
  return [];
}
