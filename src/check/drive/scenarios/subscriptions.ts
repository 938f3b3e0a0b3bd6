import { isDeepStrictEqual } from 'node:util';
import type { Scenario } from '../scenario.js';
import type { ScenarioSession } from '../scenario-session.js';
import { event, ON_DEMAND, on, result, serving } from './fixtures.js';

const OPENED = result('subscribed', { subscription: true });

/** Waits until the model gets these texts. */
async function seesAll(session: ScenarioSession, ...texts: readonly string[]): Promise<void> {
  for (const each of texts) await session.waitForObservation('model', ({ text }) => text.includes(each));
}

interface View {
  readonly view_type: string;
  readonly content: object;
}

const DIFF: View = {
  view_type: 'diff',
  content: {
    patch:
      '--- a/notes.txt\n+++ b/notes.txt\n@@ -1 +1 @@\n-first line of the view\n+second line of the view\n',
  },
};

const FILES: View = {
  view_type: 'diff',
  content: {
    files: [
      {
        path: 'notes.txt',
        status: 'modified',
        oldContents: 'an old line of a file\n',
        newContents: 'a new line of a file\n',
      },
      { path: 'old.txt', status: 'deleted', oldContents: 'a deleted line of a file\n', newContents: '' },
    ],
  },
};

const CLEARED: View = { view_type: 'diff', content: {} };

const step = (done: number): View => ({
  view_type: 'progress',
  content: { done, of: 3, note: 'only people see it', more: [null, {}] },
});

/** The operations show these views and then end; the user must see them, though a runtime may draw them late. */
const showing = (name: string, title: string, calls: readonly (readonly View[])[]): Scenario => ({
  name,
  title,
  checks: ['RT-VIEW'],
  needs: ['view'],
  servers: [
    serving(
      ...calls.map((views, index) =>
        on(`show_${index}`, [...views.map(view => ({ view })), { payload: `show_${index} is done` }]),
      ),
    ),
  ],
  run: async session => {
    for (const [index, views] of calls.entries()) {
      await session.call(`show_${index}`);
      const latest = new Map(views.map(view => [view.view_type, view]));
      for (const { view_type, content } of latest.values())
        await session.waitForObservation(
          'view',
          each => each.view_type === view_type && isDeepStrictEqual(each.content ?? {}, content),
        );
    }
    await session.settle();
  },
});

/** What a tool sends while a call goes on: events of subscriptions, and views. */
export const subscriptionScenarios: readonly Scenario[] = [
  {
    name: 'subscription',
    title: 'two subscriptions; one ends before the other',
    checks: ['RT-SUB'],
    needs: ['model'],
    servers: [
      serving(
        on('news', [
          OPENED,
          { ...event('event 1 of the news'), ...ON_DEMAND },
          event('event 2 of the news', { associative: true }),
          event('the last event of the news', { final: true }),
          event('an event of the news after the last'),
        ]),
        on('mail', [OPENED, { ...event('the only event of the mail', { final: true }), ...ON_DEMAND }]),
      ),
    ],
    run: async session => {
      await session.call('news');
      await session.call('mail');
      session.fire('news');
      await seesAll(session, 'event 1 of the news', 'event 2 of the news', 'the last event of the news');
      await session.settle();
      session.fire('mail');
      await seesAll(session, 'the only event of the mail');
      await session.settle();
    },
  },
  {
    name: 'subscription-foreign',
    title: 'events before the result, of unknown calls, and of a call without a subscription',
    checks: ['RT-SUB'],
    needs: ['model'],
    servers: [
      serving(
        on('watch', [
          event('an event before its subscription'),
          OPENED,
          event('an event of an unknown call', { tool_call_id: 'call_unknown' }),
          event('an event of an unknown thread', { group_id: 'thread_unknown' }),
          event('an event of the subscription', { final: true }),
        ]),
        on('answer', [result('a plain answer'), event('an event of a plain call')]),
      ),
    ],
    run: async session => {
      await session.call('watch');
      await session.call('answer');
      await seesAll(session, 'an event of the subscription');
      await session.settle();
    },
  },
  {
    name: 'subscription-canceled',
    title: 'events of a subscription that was canceled',
    checks: ['RT-SUB'],
    needs: ['cancel', 'model'],
    servers: [
      serving(
        on(
          'watch',
          [
            OPENED,
            event('an event before the cancel'),
            { ...event('an event after the cancel'), ...ON_DEMAND },
            event('the last event, after the cancel', { final: true }),
          ],
          { callback: ['after-cancel'] },
        ),
      ),
    ],
    run: async session => {
      await session.call('watch');
      await seesAll(session, 'an event before the cancel');
      await session.cancel();
    },
  },
  {
    name: 'subscription-canceled-by-model',
    title: 'the model cancels one of two subscriptions; events of both follow',
    checks: ['RT-SUB', 'RT-NOTIFY'],
    needs: ['cancel-subscription'],
    servers: [
      serving(
        on(
          'news',
          [
            OPENED,
            event('an event of the news before the cancel'),
            { ...event('an event of the news after the cancel', { final: true }), ...ON_DEMAND },
          ],
          { callback: ['after-cancel'] },
        ),
        on('mail', [OPENED, { ...event('an event of the mail', { final: true }), ...ON_DEMAND }]),
      ),
    ],
    run: async session => {
      await session.call('news');
      await session.call('mail');
      await seesAll(session, 'an event of the news before the cancel');
      await session.cancelSubscription('news');
      session.fire('mail');
      await seesAll(session, 'an event of the mail');
      await session.settle();
    },
  },
  showing('view', 'a diff in both formats: a later one replaces it, and an empty one clears it', [
    [DIFF],
    [FILES],
    [CLEARED],
  ]),
  showing('view-types', 'views of two types; one type is unknown', [[step(1), DIFF, step(2)], [step(3)]]),
];
