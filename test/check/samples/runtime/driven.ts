import { Content } from '../../../../src/events/content.js';
import type { RequirementId } from '../../../../src/protocol/requirements.js';
import {
  acknowledged,
  answered,
  arrives,
  at,
  call,
  EVENT,
  INVOCATION,
  KEY,
  type Moment,
  RESULT,
  resultArrives,
  stalledAt,
} from '../../../events/build.js';
import { notice } from '../parts.js';
import { fails, passes, type SampleSet, skips, unclear, warns } from '../sample.js';

/** A scenario of `check --runtime`, which tests these rules. */
export const scenario = (...checks: RequirementId[]): Moment[] => [
  { kind: 'planned', by: 'scenario', plan: 'sample', checks },
];

const line = (from: 'check' | 'runtime', message: object): Moment[] => [
  { kind: 'driver', from, body: Content.ofJson(message) },
];

export const asked = (instruction: object) => line('check', instruction);

export const saw = (observation: object) => line('runtime', observation);

export const model = (text: string, id = KEY) => saw({ saw: 'model', id, text });

const human = (type: string) => saw({ saw: 'human', id: KEY, type });

export const cannot = (...names: string[]) => line('runtime', { cannot: names });

export const can = (...names: string[]) => line('runtime', { can: names });

export const crashed: Moment[] = [{ kind: 'driver', from: 'runtime', ended: 'ended with status 1' }];

const invoked = [...call(), ...acknowledged()];

const answer = (status = 200) => resultArrives({}, { status });

const image = { type: 'image', data: '', mediaType: 'image/png' };

const item = (text: string) => ({ type: 'text', text });

const diff = { type: 'diff', content: { path: 'a', patch: '@@ -1 +1 @@\n-a\n+b\n' } };

const shows = (display_as: object[], ...types: string[]) => [
  scenario('RT-DISPLAY'),
  saw({ saw: 'human', id: 'earlier', type: 'diff' }),
  invoked,
  resultArrives({ display_as }, { status: 200 }),
  ...types.map(human),
];

/** The messages of another call, in a thread of its own. */
export const ofOtherCall = (...parts: Moment[][]): Moment[] =>
  parts.flat().map(moment => ({
    ...moment,
    calls: ['other'],
    ...('leg' in moment && { leg: `other-${moment.leg}` }),
    ...('thread' in moment && { thread: 'other' }),
  }));

const OTHER = { id: 'other', group_id: 'other' };

const subscribed = resultArrives({ subscription: true }, { leg: 's', status: 200 });

/** In the thread of its call; an event that is not associative belongs to a child of it. */
const event = (text: string) => arrives({ ...EVENT, text, associative: true }, { leg: text, status: 200 });

const plainEvent = (text: string) => arrives({ ...EVENT, text }, { leg: text, status: 200 });

const malformed = { type: 'diff', content: { path: 'a', patch: 42 } };

const unknown = { type: 'x-map', content: {} };

const refused = (...display_as: object[]) => [
  scenario('RT-DISPLAY'),
  invoked,
  resultArrives({ display_as }, { status: 400 }),
];

const canceled = [
  asked({ do: 'cancel' }),
  notice('cancel', {}, { body: { thread_id: INVOCATION.group_id, tool_call_id: KEY }, calls: [KEY] }),
];

const invalid = (status: number) => resultArrives({ text: ['an invalid text'] }, { leg: 'i', status });

const forged = resultArrives({ id: 'unknown', text: 'a forged text' }, { leg: 'f', status: 200 });

/** A call whose acknowledgement has a body. */
const misled = (body: string) => [
  ...[scenario(), call(), answered(200, { body })],
  [{ kind: 'planned', by: 'fault', plan: 'ack body', calls: [KEY] } satisfies Moment],
];

const RESULT_BODY = JSON.stringify({ ...RESULT, text: 'a text in the acknowledgement' });

/** What only a driver shows. */
export const DRIVEN: SampleSet = {
  'RT-VALIDATE': [
    passes('an invalid callback that had no effect', [scenario(), invoked, invalid(400), model('done')]),
    fails('a cut callback that was used', [
      scenario(),
      invoked,
      arrives({}, { leg: 'c', status: 400 }).map(moment =>
        moment.kind === 'request'
          ? { ...moment, body: new Content(Buffer.from('{"text": "a \\"cut\\" text')) }
          : moment,
      ),
      model('a \\"cut\\" text'),
    ]),
    passes('a list that was refused, and another text with the id of the thread', [
      scenario(),
      invoked,
      arrives([{ ...RESULT, text: 'a text in a list' }], { leg: 'l', status: 400 }),
      model(`done in ${RESULT.group_id}`),
    ]),
    fails('a list that was used', [
      scenario(),
      invoked,
      arrives([{ ...RESULT, text: 'a text in a list' }], { leg: 'l', status: 400 }),
      model('a text in a list'),
    ]),
  ],
  'RT-MATCH': [
    passes('a result of the pending call from elsewhere, and a driver without ids', [
      scenario(),
      invoked,
      resultArrives({ group_id: 'unknown', text: 'a forged text' }, { leg: 'f', status: 200 }),
      resultArrives({ text: 'done' }, { status: 200 }),
      saw({ saw: 'model', text: 'done' }),
    ]),
    skips('a forged result, and a driver that cannot see the model', [
      scenario(),
      cannot('model'),
      invoked,
      forged,
    ]),
  ],
  'RT-TEXT': [
    passes('the text', [scenario(), invoked, answer(), model('done')]),
    passes('a failed result with the text', [
      scenario(),
      invoked,
      answer(),
      saw({ saw: 'failure', id: KEY, text: 'done' }),
    ]),
    passes('the text, whatever the acknowledgement contains', [
      ...misled(RESULT_BODY),
      answer(),
      model('done'),
    ]),
    fails(
      'a failed result because of the body of the acknowledgement',
      [...misled('<html>'), saw({ saw: 'failure', id: KEY, text: 'Error: not JSON' }), answer()],
      /another text; the acknowledgement had a body/,
    ),
    fails(
      'the text of the acknowledgement, and then that of the result',
      [...misled(RESULT_BODY), model('a text in the acknowledgement'), answer(), model('done')],
      /the model got the body of an acknowledgement/,
    ),
    fails('another text', [scenario(), invoked, answer(), model('don')], /another text/),
    fails('no text', [scenario(), invoked, answer()], /never reached the model/),
    fails('a refused result', [scenario(), invoked, answer(409)], /answered 409/),
    skips('a refused result with a malformed segment', refused(malformed, item('a'))),
    skips('a refused result with a segment of an unknown type', refused(unknown)),
    skips('a crash', [scenario(), invoked, answer(), crashed]),
    skips('a result that is too large', [scenario(), invoked, answer(413)]),
    skips('an end before the result', [scenario(), invoked, asked({ do: 'end' }), answer()]),
    skips('a driver that cannot see the model', [scenario(), cannot('model'), invoked, answer()]),
    skips('no driver', [invoked, answer()]),
    warns('refused content without text', [
      scenario(),
      invoked,
      resultArrives({ text: undefined, content: [item('the content')] }, { status: 400 }),
    ]),
  ],
  'RT-DISPLAY': [
    passes('the first segment', shows([diff, item('a')], 'diff')),
    passes('the next segment of a runtime without images', shows([image, diff], 'diff')),
    warns('nothing', shows([diff]), /saw nothing/),
    warns(
      'a refused result with a segment of an unknown type',
      refused(unknown, diff),
      /a result with a segment of an unknown type was answered 400/,
    ),
    passes('a refused result with a malformed segment', refused(unknown, malformed)),
  ],
  'RT-SERIAL': [
    fails(
      'events that change places',
      [scenario(), invoked, subscribed, event('1'), event('2'), model('2'), model('1')],
      /wrong order/,
    ),
    fails(
      'events that change places, of which one is sent well after the other',
      [
        scenario(),
        invoked,
        subscribed,
        event('1').slice(0, 1),
        at(200, event('2')),
        model('2'),
        event('1').slice(1),
        model('1'),
      ],
      /wrong order/,
    ),
    passes('events that change places in a runtime that may have read both at once', [
      scenario(),
      invoked,
      subscribed,
      event('1').slice(0, 1),
      stalledAt(600, 500, event('2')),
      stalledAt(700, 500, [...model('2'), ...event('1').slice(1), ...model('1')]),
    ]),
    unclear(
      'an event that never reached the model, though a later one of its thread did',
      [
        scenario(),
        invoked,
        subscribed,
        ...['1', '2', '3'].flatMap(text => [event(text)]),
        model('1'),
        model('3'),
      ],
      /never reached the model, and a later one .* did/,
    ),
    skips('a callback that is lost because the runtime was asked to end', [
      scenario(),
      invoked,
      event('1').slice(0, 1),
      event('2').slice(0, 1),
      asked({ do: 'end' }),
      ...['1', '2'].map((leg): Moment[] => [
        { kind: 'broken', leg, phase: 'answer', code: 'ECONNRESET', calls: [KEY] },
      ]),
    ]),
    skips('plain events, which belong to child threads, in any order', [
      scenario(),
      invoked,
      subscribed,
      plainEvent('1'),
      plainEvent('2'),
      model('2'),
      model('1'),
    ]),
    passes('an event of a child thread between two of the parent', [
      scenario(),
      invoked,
      subscribed,
      plainEvent('1'),
      event('2'),
      event('3'),
      model('2'),
      model('3'),
      model('1'),
    ]),
    passes('events of two threads, in any order', [
      scenario(),
      invoked,
      subscribed,
      ofOtherCall(
        call({ invocation: { ...INVOCATION, ...OTHER } }),
        acknowledged(),
        resultArrives({ ...OTHER, subscription: true }, { leg: 's', status: 200 }),
      ),
      event('1'),
      ofOtherCall(
        arrives({ ...EVENT, group_id: 'other', tool_call_id: 'other', text: '2' }, { status: 200 }),
      ),
      event('3'),
      model('2', 'other'),
      model('1'),
      model('3'),
    ]),
    passes('events that arrive at once, in any order', [
      scenario(),
      invoked,
      subscribed,
      ...[event('1').slice(0, 1), event('2').slice(0, 1), event('2').slice(1), event('1').slice(1)],
      model('2'),
      model('1'),
    ]),
  ],
  'RT-CANCEL': [
    passes('a late result that the model did not get', [scenario(), invoked, ...canceled, answer()]),
    fails(
      'a late result that the model got',
      [scenario(), invoked, ...canceled, answer(), model('done')],
      /after the call was canceled/,
    ),
    skips('a result before the cancel', [scenario(), invoked, answer(), model('done'), ...canceled]),
    skips('no driver', [invoked, ...canceled.slice(1), answer()]),
  ],
};
