import { at } from '../../../events/build.js';
import { discovery, someCall } from '../parts.js';
import { fails, passes, type Samples, skips, warns } from '../sample.js';

const a = someCall('a');
const begun = () => [...a.sent(), ...a.answered()];

export const onceSamples: Samples = [
  passes('one result', [begun(), at(100, a.result()), at(1_100, discovery())], /at least 1s/),
  passes('the same result again', [begun(), a.result(), a.result()]),
  fails(
    'a second, different result',
    [begun(), a.result(), a.result({ text: 'done, too' })],
    /a second, different tool_result/,
  ),
  warns('a different result after one that did not arrive', [
    begun(),
    a.result({}, { status: 503 }),
    a.result({ text: 'done at last' }),
  ]),
  passes('a different result after one that was refused', [
    begun(),
    a.result({}, { status: 404 }),
    a.result({ text: 'done at last' }),
  ]),
  skips('no result', [begun()]),
];
