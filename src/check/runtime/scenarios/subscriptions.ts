import { valueAt } from '../../../util/values.js';
import type { Scenario, ScenarioSession } from '../scenario.js';

const OPENED = { result: { text: 'subscribed to {{arguments.to}}', subscription: true } };

/** Sends the next events of a subscription. */
function fire({ tool }: ScenarioSession, to: string): void {
  const isWanted = ({ arguments: args }: { arguments?: unknown } = {}) => valueAt(args, 'to') === to;
  const call = tool.calls().find(({ invocation }) => isWanted(invocation ?? {}));
  tool.fire(call?.invocation?.id, call?.invocation?.group_id);
}

/** Waits until the model gets these texts. */
async function seesAll(session: ScenarioSession, ...texts: readonly string[]): Promise<void> {
  for (const each of texts) await session.saw('model', ({ text }) => text.includes(each));
}

/** Events of subscriptions. */
export const subscriptionScenarios: readonly Scenario[] = [
  {
    name: 'subscription',
    title: 'two subscriptions; one ends before the other',
    checks: ['RT-SUB'],
    servers: [
      {
        fixtures: [
          {
            match: { operation: 'watch', arguments: { to: 'news' } },
            reply: [
              OPENED,
              { event: { text: 'event 1 of the news' }, on: 'demand' },
              { event: { text: 'event 2 of the news', associative: true } },
              { event: { text: 'the last event of the news', final: true } },
              { event: { text: 'an event of the news after the last' } },
            ],
          },
          {
            match: { operation: 'watch', arguments: { to: 'mail' } },
            reply: [OPENED, { event: { text: 'the only event of the mail', final: true }, on: 'demand' }],
          },
        ],
      },
    ],
    run: async session => {
      await session.call('watch', { to: 'news' });
      await session.call('watch', { to: 'mail' });
      fire(session, 'news');
      await seesAll(session, 'event 1 of the news', 'event 2 of the news', 'the last event of the news');
      await session.settle();
      fire(session, 'mail');
      await seesAll(session, 'the only event of the mail');
      await session.settle();
    },
  },
  {
    name: 'subscription-foreign',
    title: 'events before the result, of unknown calls, and of a call without a subscription',
    checks: ['RT-SUB'],
    servers: [
      {
        fixtures: [
          {
            match: { operation: 'watch' },
            reply: [
              { event: { text: 'an event before its subscription' } },
              OPENED,
              { event: { text: 'an event of an unknown call', tool_call_id: 'call_unknown' } },
              { event: { text: 'an event of an unknown thread', group_id: 'thread_unknown' } },
              { event: { text: 'an event of the subscription', final: true } },
            ],
          },
          {
            match: { operation: 'answer' },
            reply: [{ result: { text: 'a plain answer' } }, { event: { text: 'an event of a plain call' } }],
          },
        ],
      },
    ],
    run: async session => {
      await session.call('watch', { to: 'news' });
      await session.call('answer');
      await seesAll(session, 'an event of the subscription');
      await session.settle();
    },
  },
  {
    name: 'subscription-canceled',
    title: 'events of a subscription that was canceled',
    checks: ['RT-SUB'],
    needs: ['cancel'],
    servers: [
      {
        fixtures: [
          {
            match: { operation: 'watch' },
            faults: { callback: ['after-cancel'] },
            reply: [
              OPENED,
              { event: { text: 'an event before the cancel' } },
              { event: { text: 'an event after the cancel' }, on: 'demand' },
              { event: { text: 'the last event, after the cancel', final: true } },
            ],
          },
        ],
      },
    ],
    run: async session => {
      await session.call('watch', { to: 'news' });
      await seesAll(session, 'an event before the cancel');
      session.ask({ do: 'cancel' });
      await session.arrives('cancel');
      await session.settle();
    },
  },
];
