import { at } from '../../../events/build.js';
import { planned, someCall } from '../parts.js';
import { passes, type Samples, skips, unclear, warns } from '../sample.js';

const a = someCall('a');
const begun = () => [...a.sent(), ...a.answered()];
const refused = (status = 400) => a.result({}, { status });

export const noRetrySamples: Samples = [
  passes(
    "no retry within a check's time limit",
    [begun(), at(100, refused()), at(5_100, a.waited())],
    /within 5s/,
  ),
  warns(
    'a retry',
    [begun(), at(100, refused()), at(400, a.result())],
    /answered 400, and sent again after 300ms/,
  ),
  warns(
    'another result after the first was refused',
    [begun(), at(100, refused()), at(400, a.result({ text: 'done, again' }))],
    /answered 400, and another tool_result came/,
  ),
  skips('no observation', [begun(), at(100, refused())]),
  unclear('an aborted check', [planned(['TOOL-NORETRY']), begun(), at(100, refused())]),
  skips('a retry after a 429', [begun(), at(100, refused(429)), at(400, a.result())]),
];
