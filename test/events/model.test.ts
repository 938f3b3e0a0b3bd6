import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Event } from '../../src/events/events.js';
import type { Exchange } from '../../src/events/exchange.js';
import { llmTextOf, openQuestions, outcomeOf } from '../../src/events/exchange.js';
import { foldExchange } from '../../src/events/fold-exchange.js';
import { readTranscript } from '../../src/events/transcript-reader.js';
import { transcriptWriter } from '../../src/events/transcript-writer.js';
import { createRedactor } from '../../src/util/redact.js';
import { deepFreeze } from '../support/deep-freeze.js';
import { CHOICE, eventsOf, exchangeOf, fold, historyOf, KEY, THREAD } from './build.js';
import { ACTIONS, type Action, FORGED, type Model, PENDING, partsOf } from './model.js';

const actions = fc.array(fc.constantFrom(...ACTIONS), { maxLength: 30 });
const holds = (predicate: (drawn: Action[]) => void) =>
  fc.assert(fc.property(actions, predicate), { numRuns: 100 });
/** More runs than {@link holds}, for properties with more states. */
const agrees = (predicate: (drawn: Action[]) => void) =>
  fc.assert(fc.property(actions, predicate), { numRuns: 300 });

/** The exchange before and after each event. All values are frozen, so that a step that modifies its input throws. */
function* lives(events: readonly Event[]): Generator<{ before: Exchange | null; after: Exchange }> {
  let before: Exchange | null = null;
  for (const event of deepFreeze(events)) {
    const after: Exchange | undefined = deepFreeze(foldExchange(KEY, before ?? undefined, event, String));
    if (!after) throw new Error('the first event is the call');
    yield { before, after };
    before = after;
  }
}

function modelOf(drawn: readonly Action[]): Model {
  return drawn.reduce((model, action) => action.next(model), PENDING);
}

describe('row 8: any interleaving of the events of a call', () => {
  test('the first event that can settle the call settles it, and no later one does', () => {
    agrees(drawn => {
      const { settled } = exchangeOf(...partsOf(drawn));
      const model = modelOf(drawn);
      expect(settled?.by ?? null).toBe(model.by);
      expect(settled?.by === 'result' ? settled.result.text : null).toBe(model.text);
    });
  });

  test('RT-SUB: a subscription counts its events until its end', () => {
    agrees(drawn => {
      const { subscription } = exchangeOf(...partsOf(drawn));
      const model = modelOf(drawn).subscription;
      expect(subscription?.events).toBe(model?.events);
      expect(subscription?.ended === null).toBe(model?.ended === null);
    });
  });

  test('RT-VIEW: a thread shows its latest view', () => {
    holds(drawn => {
      const view = historyOf(...partsOf(drawn))
        .threads.get(THREAD)
        ?.views.get('diff');
      expect(view?.content['patch'] ?? null).toBe(modelOf(drawn).view);
    });
  });

  test('RT-PENDING: the call waits for the oldest unanswered question', () => {
    const nameOf = ({ message }: Exchange['questions'][number]) => {
      if (message.type === 'oauth') return 'oauth';
      return message.prompt === CHOICE.prompt ? 'choice' : 'another choice';
    };
    agrees(drawn => {
      const exchange = exchangeOf(...partsOf(drawn));
      const open = openQuestions(exchange);
      expect(open.map(nameOf)).toEqual(modelOf(drawn).open);
      expect(exchange.waitingFor).toBe(open[0]?.message ?? null);
    });
  });

  test('a settled call never changes its outcome', () => {
    holds(drawn => {
      for (const { before, after } of lives(eventsOf(...partsOf(drawn))))
        if (before?.settled) expect(after.settled).toBe(before.settled);
    });
  });

  test('each arrival gets the verdict of the model', () => {
    agrees(drawn => {
      const expected: string[] = [];
      let model = PENDING;
      for (const action of drawn) {
        if (action.verdict) expected.push(action.verdict(model));
        model = action.next(model);
      }
      const { arrivals } = exchangeOf(...partsOf(drawn));
      expect(arrivals.map(({ verdict }) => verdict.kind)).toEqual(expected);
    });
  });

  test('RT-MATCH: no part of a rejected message reaches the LLM or the user', () => {
    holds(drawn => {
      const exchange = exchangeOf(...partsOf(drawn));
      expect(llmTextOf(exchange) ?? '').not.toContain(FORGED);
      expect(JSON.stringify(outcomeOf(exchange))).not.toContain(FORGED);
      expect(JSON.stringify(exchange.waitingFor)).not.toContain(FORGED);
    });
  });

  test('there is a text for the LLM exactly if the call is settled', () => {
    holds(drawn => {
      const exchange = exchangeOf(...partsOf(drawn));
      expect(llmTextOf(exchange) === null).toBe(exchange.settled === null);
      if (exchange.settled) expect(exchange.waitingFor).toBeNull();
    });
  });

  test('a history that is written as a transcript and read again is equal', () => {
    holds(drawn => {
      const events = eventsOf(...partsOf(drawn));
      const writer = transcriptWriter(createRedactor());
      const transcript = readTranscript(events.flatMap(event => writer.event(event)));
      expect(transcript.faults).toEqual([]);
      expect(fold(transcript.events)).toEqual(fold(events));
    });
  });
});
