import type { Fixtures, Scenario, ScenarioSession } from '../scenario.js';
import { answers } from './fixtures.js';

/** Statuses that are neither a success nor a reason to retry. */
const FINAL = [400, 404, 410, 201, 204, 302];

const refuse = (operation: string, status: number) =>
  answers(operation, `${operation} was executed`, { faults: { ack: { status } } });

const FLAKY = { fixtures: [refuse('flaky', 503)] };

const RECOVERED: Fixtures = { fixtures: [answers('flaky', 'flaky is available again')] };

/** A runtime may pause for long between its retries. */
async function resultOfRetries(session: ScenarioSession, operation: string): Promise<void> {
  const id = session.invoke(operation);
  if (!(await session.result(id))) await session.result(id);
}

/** Acknowledgements of invocations. */
export const acknowledgementScenarios: readonly Scenario[] = [
  {
    name: 'refusals',
    title: `invocations answered ${FINAL.join(', ')}`,
    checks: ['RT-NON200', 'RT-NORETRY'],
    servers: [{ fixtures: FINAL.map(status => refuse(`status_${status}`, status)) }],
    run: async session => {
      await Promise.all(FINAL.map(status => session.call(`status_${status}`)));
      await session.settle();
    },
  },
  {
    name: 'status-500',
    title: 'every attempt is answered 500',
    checks: ['RT-RETRY', 'RT-NON200'],
    servers: [{ fixtures: [refuse('crash', 500)] }],
    run: session => resultOfRetries(session, 'crash'),
  },
  {
    name: 'status-503',
    title: 'the first attempt is answered 503, a later one 200',
    checks: ['RT-RETRY'],
    servers: [FLAKY],
    run: async session => {
      const id = session.invoke('flaky');
      await session.arrives('invocation');
      await session.replaceFixtures(RECOVERED);
      await session.result(id);
      await session.settle();
    },
  },
  {
    name: 'lost-acknowledgement',
    title: 'the connection breaks before the acknowledgement; the result comes a second later',
    checks: ['RT-RETRY'],
    servers: [
      {
        fixtures: [
          {
            match: { operation: 'lose' },
            faults: { ack: { reset: true } },
            reply: { payload: 'the tool has the call', delay: '1s' },
          },
        ],
      },
    ],
    run: async session => {
      await session.call('lose');
      await session.settle();
    },
  },
  {
    name: 'slow-acknowledgement',
    title: 'an acknowledgement after a second, and one that never comes',
    checks: ['RT-FIELDS', 'RT-ID'],
    servers: [
      {
        fixtures: [
          answers('hang', 'the result of an invocation without acknowledgement', {
            faults: { ack: { hang: true } },
          }),
          answers('slow', 'the result after a slow acknowledgement', { faults: { ack: { delay: '1s' } } }),
        ],
      },
    ],
    run: async session => {
      const slow = ['hang', 'slow'].map(operation => session.invoke(operation));
      await session.settle();
      await Promise.all(slow.map(id => session.result(id)));
    },
  },
];
