import { Content } from '../../../../src/events/content.js';
import {
  acknowledged,
  arrives,
  CHOICE,
  call,
  EVENT,
  KEY,
  type Moment,
  OAUTH,
  resultArrives,
  THREAD,
  VIEW,
} from '../../../events/build.js';
import { fails, passes, type SampleSet, skips, warns } from '../sample.js';
import { asked, cannot, model, saw, scenario } from './driven.js';

const invoked = [...call(), ...acknowledged()];

const result = (status = 200) => resultArrives({}, { leg: 'result', status });

const end = asked({ do: 'end' });

const cancels = asked({ do: 'cancel' });

const question = saw({ saw: 'question', id: KEY, prompt: CHOICE.prompt, choices: CHOICE.choices });

const consent = saw({ saw: 'consent', id: KEY });

const chooses = (choice: number | string) => asked({ do: 'answer', choice });

const asks = (fields: object = {}, status = 200, leg = 'question') =>
  arrives({ ...CHOICE, ...fields }, { leg, status });

const requires = (status = 200) => arrives(OAUTH, { leg: 'oauth', status });

function selects(selected: number | string, { status = 200, url = CHOICE.response_url } = {}): Moment[] {
  const about = { calls: [KEY], thread: THREAD, leg: 'selection', headers: {} };
  const body = Content.ofJson({ id: KEY, selected });
  const head = { from: 'runtime', to: 'tool', purpose: 'choice', method: 'POST', attempt: 1 } as const;
  return [
    { kind: 'request', ...head, url, body, ...about },
    { kind: 'response', status, ...about },
  ];
}

/** A question that the user sees. */
const open = [scenario('RT-CHOICE'), invoked, asks(), question];

const leak = (where: string) =>
  saw({ saw: 'leak', where, text: 'visit https://auth.example/?state=[redacted]' });

const subscribed = [
  scenario('RT-SUB'),
  invoked,
  resultArrives({ subscription: true }, { leg: 's', status: 200 }),
];

const event = (fields: object, status = 200) =>
  arrives({ ...EVENT, ...fields }, { leg: JSON.stringify(fields), status });

const shows = (content: unknown, view_type = 'diff') => saw({ saw: 'view', view_type, content });

const view = (content: object, view_type = 'diff', status = 200) =>
  arrives({ ...VIEW, content, view_type }, { leg: JSON.stringify([content, view_type]), status });

const PATCH = { patch: 'a patch that only people see' };

const logs = (operations: string[], more: object = {}) =>
  saw({ saw: 'log', operations, isWhole: true, ...more });

const forged = arrives(
  { type: 'tool_result', group_id: THREAD, id: 'unknown', text: 'forged' },
  { leg: 'forged', status: 404 },
);

/** What only a driver shows of questions, subscriptions and views. */
export const DRIVEN_CONVERSATION: SampleSet = {
  'RT-PENDING': [
    fails(
      'a text for the model before the result',
      [...open, model('the user is asked'), chooses(1), selects(1), result(), model('done')],
      /waited for the user/,
    ),
    fails(
      'a result that the model never gets',
      [scenario(), invoked, requires(), consent, result()],
      /did not reach the model/,
    ),
    fails('a refused result', [scenario(), invoked, requires(), consent, result(404)], /answered 404/),
    passes('a result that a driver cannot see', [scenario(), cannot('model'), invoked, requires(), result()]),
    passes('a failed result after a cancel', [
      scenario(),
      invoked,
      requires(),
      cancels,
      saw({ saw: 'failure', id: KEY, text: 'Error: canceled' }),
    ]),
    passes('no result until the end', [scenario(), invoked, requires(), end, result()]),
    passes('a result that was not answered before the end', [
      ...[scenario(), invoked, requires(), consent],
      ...[result().slice(0, -1), end, result().slice(-1)],
    ]),
  ],
  'RT-OAUTH': [
    passes('a page that the user is asked to visit', [scenario(), invoked, requires(), consent], undefined, {
      observer: 'tool',
    }),
    fails('a refused message', [scenario(), invoked, requires(400)], /answered 400/),
    ...['model', 'failure', 'log'].map(where =>
      fails(
        `a secret in the ${where}`,
        [scenario(), invoked, requires(), consent, leak(where)],
        /a secret of the auth_url .*: visit https:\/\/auth.example\/\?state=\[redacted\]/,
      ),
    ),
    skips('a driver that cannot show it', [scenario(), cannot('consent'), invoked, requires()]),
  ],
  'RT-CHOICE': [
    passes('the chosen index', [...open, chooses(1), selects(1)]),
    passes('a choice that is sent again after a 500', [
      ...open,
      chooses(1),
      selects(1, { status: 500 }),
      selects(1).map(moment => ({ ...moment, leg: 'again' }) as Moment),
    ]),
    fails('nothing', [...open, chooses(1), end], /answered, and no selection came/),
    fails('a selection before the answer', [...open, selects(1), chooses(1)], /before the user answered/),
    fails('a question that was not shown', [scenario(), invoked, asks()], /not shown to the user/),
    fails('a refused question', [scenario(), invoked, asks({}, 400)], /answered 400/),
    fails(
      'a question in other words',
      [scenario(), invoked, asks({ prompt: 'Where from?' }), question],
      /another text or other choices/,
    ),
    fails('hostile choices that are missing', [
      scenario(),
      invoked,
      asks({ choices: ['\u202Ea', 'b', 'c'] }),
      question,
    ]),
    skips('a driver that cannot answer', [scenario(), cannot('answer'), invoked, asks()]),
  ],
  'RT-SUB': [
    fails(
      'a refused event of an open subscription',
      [...subscribed, event({ text: 'one' }, 404), end],
      /was answered 404/,
    ),
    passes('an event that is refused after the end', [
      ...subscribed,
      event({ text: 'one' }),
      model('one'),
      end,
      event({ text: 'two' }, 404),
    ]),
    passes('an accepted event of an unknown call', [
      ...subscribed,
      event({ text: 'one', tool_call_id: 'unknown' }),
      model('two'),
    ]),
    fails(
      'an event without a subscription',
      [scenario(), invoked, result(), event({ text: 'one' }), model('one')],
      /but no subscription was opened/,
    ),
    passes('a refused event after the model canceled the subscription', [
      ...subscribed,
      event({ text: 'one' }),
      model('one'),
      asked({ do: 'cancel-subscription', id: KEY }),
      event({ text: 'two' }, 404),
    ]),
    fails('a refused event of another subscription than the one that the model canceled', [
      ...subscribed,
      asked({ do: 'cancel-subscription', id: 'other' }),
      event({ text: 'one' }, 404),
    ]),
    skips('a driver that cannot show the model', [cannot('model'), ...subscribed, event({ text: 'one' })]),
  ],
  'RT-VIEW': [
    passes('only the latest of two', [
      scenario(),
      invoked,
      view({ done: 1 }),
      view({ done: 2 }),
      shows({ done: 2 }),
    ]),
    ...[200, 400].map(status =>
      skips(
        `a driver that cannot show views, and a view that was answered ${status}`,
        [scenario(), cannot('view'), invoked, view(PATCH, 'diff', status)],
        /the driver does not support view/,
      ),
    ),
    passes('an invalid view that was shown, which RT-VALIDATE covers', [
      scenario(),
      invoked,
      view(PATCH),
      shows(PATCH),
      arrives({ ...VIEW, content: ['a view'], view_type: 'list' }, { leg: 'list', status: 200 }),
      shows({ 0: 'a view' }, 'list'),
    ]),
    fails(
      'a view that was answered 400 and shown',
      [scenario(), invoked, view(PATCH, 'diff', 400), shows(PATCH)],
      /^a view was answered 400$/,
    ),
    fails(
      'the content of another type',
      [scenario(), invoked, view(PATCH), view({ done: 1 }, 'progress'), shows(PATCH, 'progress')],
      /was not shown.*content that the tool did not send/,
    ),
    fails(
      'a view that the model gets',
      [scenario(), invoked, view(PATCH), shows(PATCH), model('a view: a patch that only people see')],
      /content of a view reached the model/,
    ),
  ],
  'RT-AUDIT': [
    passes('a log with the operation', [scenario(), invoked, result(), logs(['edit_file'])]),
    warns('a log without it', [scenario(), invoked, result(), logs([])], /operations .*: edit_file/),
    warns(
      'a log without times',
      [scenario(), invoked, result(), logs(['edit_file'], { untimed: ['edit_file'] })],
      /no time of operations: edit_file/,
    ),
    warns(
      'a log without outcomes',
      [scenario(), invoked, result(), logs(['edit_file'], { unended: ['edit_file'] })],
      /no outcome of operations: edit_file/,
    ),
    passes('a log with a discarded result', [
      scenario(),
      invoked,
      forged,
      result(),
      logs(['edit_file'], { undiscarded: [] }),
    ]),
    warns(
      'a log without a discarded result',
      [scenario(), invoked, forged, result(), logs(['edit_file'], { undiscarded: [`${THREAD}/unknown`] })],
      /results that match no pending call: thread_xyz\/unknown/,
    ),
    passes('a part of a log, with the operation', [
      scenario(),
      invoked,
      result(),
      logs(['edit_file'], { untimed: ['edit_file'], isWhole: false }),
    ]),
    skips('a part of a log', [scenario(), invoked, result(), logs([], { isWhole: false })]),
    skips('no log', [scenario(), invoked, result()], /--log/),
  ],
};
