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
  fails('a response_url that answers 404', [asked(), a.selected({ status: 404 })], /answered 404/),
  fails(
    'an unreachable response_url',
    [asked(), a.selected({ status: null, code: 'ECONNREFUSED' })],
    /ECONNREFUSED/,
  ),
  fails(
    'no result after the selection',
    [asked(), a.selected(), at(5_000, a.waited())],
    /within 5s of the selection/,
  ),
  fails(
    'only a result caused by closing the thread',
    [asked(), a.selected(), at(5_000, a.waited()), a.closed(), a.result()],
    /within 5s of the selection/,
  ),
  unclear('a selection at the end of the transcript', [asked(), a.selected()]),
  skips('an unanswered question', [asked()]),
];
