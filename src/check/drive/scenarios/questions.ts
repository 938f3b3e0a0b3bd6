import { isDeepStrictEqual } from 'node:util';
import type { Scenario } from '../scenario.js';
import type { ScenarioSession } from '../scenario-session.js';
import { event, ON_DEMAND, on, result, serving } from './fixtures.js';

interface Question {
  readonly prompt: string;
  readonly choices: readonly string[];
  readonly default: number;
  readonly query?: string;
}

const DEPLOY: Question = {
  prompt: 'Where should it be deployed?',
  choices: ['staging', 'a copy of production', 'production'],
  default: 0,
  query: 'of=a/b%20c&token', // must be sent back unchanged
};

const COLOR: Question = { prompt: 'Which color?', choices: ['red', 'green'], default: 1 };

/** Overrides the direction of text, moves the cursor, hides characters. */
const HOSTILE: Question = {
  prompt: 'Delete \u202Egpj.exe\u202C?\u001B[2J\u001B[H\u0000 \u200BReally?\r\n> yes',
  choices: ['\u001B]0;title\u0007Yes', '\u2066No\u2069', '\u202E\u0008\u0008Later', ''],
  default: 3,
};

/** The operation that asks a question; its result names the choice. */
function asking(operation: string, question: Question, faults?: object): object {
  const results = question.choices.map((label, index) => [
    label,
    { payload: `${operation} got choice ${index}` },
  ]);
  // biome-ignore lint/suspicious/noThenProperty: the word of the file format; never a function
  return on(operation, { choice: question, then: Object.fromEntries(results) }, faults);
}

/** Calls an operation, and waits until the user is asked. */
async function ask(session: ScenarioSession, operation: string, { choices }: Question): Promise<string> {
  const id = session.invoke(operation);
  await session.waitForObservation('question', each => each.choices.length === choices.length);
  return id;
}

const NEEDS = ['question', 'answer'] as const;

/** A scenario with one question and the user's action. */
const answering = (
  name: string,
  title: string,
  question: Question,
  choice: number | string | null,
): Scenario => ({
  name,
  title,
  checks: ['RT-CHOICE'],
  needs: choice === null ? [...NEEDS, 'dismiss'] : NEEDS,
  servers: [serving(asking('decide', question))],
  run: async session => {
    const id = await ask(session, 'decide', question);
    session.instruct(choice === null ? { do: 'dismiss' } : { do: 'answer', choice });
    await session.waitForResult(id);
  },
});

const CONSENT = 'https://auth.example/authorize?client_id=mail&state=canary_{{uuid}}';

/** A tool that asks for consent at another server; firing its trigger grants it. */
const MAIL = on('read_mail', {
  oauth: { auth_url: CONSENT },
  granted: { payload: 'you have no mail' },
  refused: { error: { message: 'consent was refused' } },
});

async function consent(session: ScenarioSession): Promise<string> {
  const id = session.invoke('read_mail');
  await session.waitForObservation('consent');
  await session.settle(); // after it, a text for the model would have arrived
  return id;
}

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

/** What a tool sends besides results: questions, events, views. */
export const questionScenarios: readonly Scenario[] = [
  {
    name: 'choice',
    title: 'a question that the user answers by index',
    checks: ['RT-CHOICE', 'RT-PENDING'],
    needs: NEEDS,
    servers: [serving(asking('deploy', DEPLOY))],
    run: async session => {
      const id = await ask(session, 'deploy', DEPLOY);
      await session.waitQuietly();
      session.instruct({ do: 'answer', choice: 1 });
      await session.waitForResult(id);
    },
  },
  answering('choice-label', 'a question that the user answers by label', DEPLOY, 'production'),
  answering('choice-dismissed', 'a question that the user dismisses', COLOR, null),
  {
    name: 'choice-refused',
    title: 'a response_url that answers 500; the result comes anyway',
    checks: ['RT-CHOICE', 'RT-PENDING'],
    needs: NEEDS,
    servers: [{ ...serving(asking('deploy', DEPLOY)), faults: { choice: { status: 500 } } }],
    run: async session => {
      const id = await ask(session, 'deploy', DEPLOY);
      session.instruct({ do: 'answer', choice: 2 });
      await session.waitForRequests('choice');
      await session.waitQuietly();
      session.fire('deploy');
      await session.waitForResult(id);
    },
  },
  {
    name: 'choice-repeated',
    title: 'a question that is sent twice, as after a lost answer; so is the result',
    checks: ['RT-DUP'],
    needs: NEEDS,
    servers: [serving(asking('decide', COLOR, { callback: ['duplicate'] }))],
    run: async session => {
      const id = await ask(session, 'decide', COLOR);
      await session.waitForRequests('callback', 3); // that of ping and both questions
      await session.waitQuietly();
      session.instruct({ do: 'answer', choice: 0 });
      await session.waitForResult(id);
      await session.settle();
    },
  },
  {
    name: 'choices-open',
    title: 'two open questions; the oldest is answered first',
    checks: ['RT-CHOICE'],
    needs: NEEDS,
    servers: [serving(asking('deploy', DEPLOY), asking('color', COLOR))],
    run: async session => {
      const ids = [await ask(session, 'deploy', DEPLOY), session.invoke('color')];
      await session.waitForRequests('callback', 3); // the result of ping and both questions; a runtime may show one at a time
      session.instruct({ do: 'answer', choice: 2 });
      if (!(await session.waitForRequests('choice'))) return;
      if (!(await session.waitForObservation('question', ({ prompt }) => prompt.includes(COLOR.prompt))))
        return;
      session.instruct({ do: 'answer', choice: 'red' });
      for (const id of ids) await session.waitForResult(id);
    },
  },
  answering('choice-hostile', 'a question with control characters and invisible characters', HOSTILE, 2),
  {
    name: 'consent',
    title: 'a consent page that the user must visit, with a secret in its URL',
    checks: ['RT-OAUTH', 'RT-PENDING'],
    servers: [serving(MAIL)],
    run: async session => {
      const id = await consent(session);
      session.fire('read_mail');
      await session.waitForResult(id);
    },
  },
  {
    name: 'consent-canceled',
    title: 'a call that is canceled before the user visits the consent page',
    checks: ['RT-OAUTH'],
    needs: ['cancel', 'consent'],
    servers: [serving(MAIL)],
    run: async session => {
      await consent(session);
      await session.cancel();
    },
  },
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
