import { someCall } from '../parts.js';
import { fails, passes, type Samples, skips, warns } from '../sample.js';

const a = someCall('a');
const begun = () => [...a.sent(), ...a.answered()];

export const postSamples: Samples = [
  passes('a POST of JSON', [begun(), a.result()]),
  passes('JSON with the charset UTF-8', [begun(), a.result({}, { type: 'application/json; charset=UTF-8' })]),
  skips('no group_id, as none was given', [
    a.sent({ ...a.invocation, group_id: undefined }),
    a.answered(),
    a.posts({ type: 'tool_result', id: 'a', text: 'Error: no group_id.' }, { status: 400 }),
  ]),
  fails('another content type', [begun(), a.result({}, { type: 'text/plain' })], /not application\/json/),
  fails('another charset', [begun(), a.result({}, { type: 'application/json; charset=latin1' })]),
  fails('a PUT', [begun(), a.result({}, { method: 'PUT', status: 405 })], /"PUT"/),
  fails(
    'a content type that the listener refused',
    [begun(), a.posts(null, { status: 415, refusal: 'its content type is not JSON' })],
    /refused with 415: its content type/,
  ),
  warns(
    'a callback that the listener refused for other reasons',
    [begun(), a.posts(null, { status: 413, refusal: 'its body is too large' })],
    /too large/,
  ),
  skips('an incomplete callback', [begun(), a.posts(null, { status: 408, refusal: 'it was too slow' })]),
  fails('invalid JSON', [begun(), a.posts('{"text":', { status: 400 })]),
  fails('invalid UTF-8', [begun(), a.posts(Buffer.from([0x22, 0xff, 0x22]), { status: 400 })], /UTF-8/),
  fails('a result without a text', [begun(), a.result({ text: undefined }, { status: 400 })], /\$\.text/),
  warns(
    'content without a text',
    [begun(), a.result({ text: undefined, content: [{ type: 'text', text: 'done' }] })],
    /older runtimes/,
  ),
  skips('no callback', [begun()]),
];
