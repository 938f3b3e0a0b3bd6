import { expect, test } from 'vitest';
import { warningsOfAll } from '../../../src/render/outputs/repeats.js';
import {
  acknowledged,
  arrives,
  at,
  call,
  historyOf,
  RESULT,
  refused,
  resultArrives,
} from '../../events/build.js';

test('what is said of many is said once; what belongs to no call is said once too', () => {
  const history = historyOf(
    at(0, call()),
    at(300, acknowledged()),
    resultArrives(),
    refused('wrong-address', 404),
  );
  const [first] = history.exchanges.values();
  if (!first) throw new Error('the story has no call');
  history.exchanges.set('another', { ...first, key: 'another' });
  expect(warningsOfAll(history)).toEqual([
    { id: 'TOOL-OPAQUE', message: expect.stringContaining('1 post to a wrong callback URL') },
    { id: 'TOOL-ACK', message: 'the acknowledgement took 300ms, more than 250ms (2 times)' },
  ]);
});

test('of very many different ones the rest is counted', () => {
  const strangers = Array.from({ length: 30 }, (_, index) =>
    arrives({ ...RESULT, id: `stranger ${index}` }, { leg: `l${index}` }),
  );
  const warnings = warningsOfAll(historyOf(call(), ...strangers));
  expect(warnings).toHaveLength(21);
  expect(warnings.at(-1)).toEqual({ id: 'TOOL-ID', message: '… and 10 more of this kind' });
});
