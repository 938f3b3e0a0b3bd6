import { at } from '../../../events/build.js';
import { someCall } from '../parts.js';
import { fails, passes, type Samples, skips, unclear } from '../sample.js';

const a = someCall('a');
const begun = () => [...a.sent(), ...a.answered()];
const asked = (fields: object = {}) => [...begun(), ...a.asks(fields)];

export const choiceSamples: Samples = [
  passes('a result after the selection', [asked(), a.selected(), a.result()]),
  passes('the next question after the selection', [asked(), a.selected(), a.asks({ prompt: 'When?' })]),
  fails('no choices', [begun(), a.asks({ choices: [], default: 0 }, { status: 400 })], /choices/),
  fails('a default out of range', [begun(), a.asks({ default: 2 }, { status: 400 })], /default/),
  fails('a response_url that knows nothing', [asked(), a.selected({ status: 404 })], /answered 404/),
  fails(
    'a response_url that no one serves',
    [asked(), a.selected({ status: null, code: 'ECONNREFUSED' })],
    /ECONNREFUSED/,
  ),
  fails(
    'a selection that leads to nothing',
    [asked(), a.selected(), at(5_000, a.waited())],
    /within 5s of the selection/,
  ),
  fails(
    'a selection that leads to nothing but what the end of the thread brings about',
    [asked(), a.selected(), at(5_000, a.waited()), a.closed(), a.result()],
    /within 5s of the selection/,
  ),
  unclear('a selection at the end of the transcript', [asked(), a.selected()]),
  skips('a question that no one answered', [asked()]),
];
