import { at } from '../../../events/build.js';
import { planned, someCall } from '../parts.js';
import { passes, type Samples, skips, unclear, warns } from '../sample.js';

const a = someCall('a');
const begun = () => [...a.sent(), ...a.answered()];
const refused = (status = 400) => a.result({}, { status });

export const noRetrySamples: Samples = [
  passes(
    'not sent again within the time of a check',
    [begun(), at(100, refused()), at(5_100, a.waited())],
    /within 5s/,
  ),
  warns(
    'sent again',
    [begun(), at(100, refused()), at(400, a.result())],
    /answered 400, and sent again after 300ms/,
  ),
  warns(
    'another result, once the first was refused',
    [begun(), at(100, refused()), at(400, a.result({ text: 'done, again' }))],
    /answered 400, and another tool_result came/,
  ),
  skips('no one looked', [begun(), at(100, refused())]),
  unclear('a check that was cut short', [planned(['TOOL-NORETRY']), begun(), at(100, refused())]),
  skips('sent again to who was too busy', [begun(), at(100, refused(429)), at(400, a.result())]),
];
