import { expect, test } from 'vitest';
import { parseFixtures } from '../../../src/fixtures/read-fixtures.js';
import { leftOut } from '../../../src/mock/local-tool.js';

const event = [{ event: { text: 'x' } }, { payload: 1 }];
const view = [{ view: { view_type: 'x', content: {} } }, { payload: 1 }];

test.each<[string, object, readonly string[]]>([
  ['a plain reply', { reply: { payload: 1, delay: '1s' } }, []],
  ['a result of RAP', { reply: { result: { text: 'x', display_as: [] } } }, []],
  [
    'a fault of a callback',
    { reply: { payload: 1 }, faults: { callback: ['drop'] } },
    ['faults apply to RAP callbacks only and are ignored (one)'],
  ],
  [
    'a fault of an acknowledgement',
    { reply: { payload: 1 }, faults: { ack: { status: 503 } } },
    ['faults apply to RAP callbacks only and are ignored (one)'],
  ],
  ['an event in a sequence', { sequence: [{ payload: 1 }, event] }, ['events are not sent (one)']],
  [
    'a view within the branches of questions',
    {
      reply: {
        choice: { prompt: 'x', choices: ['a'] },
        // biome-ignore lint/suspicious/noThenProperty: the word of the file format
        then: { a: { oauth: {}, granted: view, refused: { payload: 1 } } },
      },
    },
    [
      'views are not sent (one)',
      'choices are not asked; the default is used (one)',
      'consents are not asked; they count as refused (one)',
    ],
  ],
])('%s', (_, fixture, sentences) => {
  const set = parseFixtures({
    version: 1,
    fixtures: [{ id: 'one', match: { operation: 'op' }, ...fixture }],
  });
  expect(leftOut(set)).toEqual(sentences);
});
