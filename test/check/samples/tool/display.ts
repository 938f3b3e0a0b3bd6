import { eventsOf } from '../../../events/build.js';
import { someCall } from '../parts.js';
import type { Samples } from '../sample.js';

const a = someCall('a');
const result = (fields: object) => eventsOf(a.sent(), a.answered(), a.result(fields));
const shown = (...segments: object[]) => result({ display_as: segments });

const text = { type: 'text', content: 'edit_file src/main.rs' };
const patch = '--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-a\n+b\n';
const diff = (fields: object = {}) => ({ type: 'diff', content: { path: 'a.txt', patch, ...fields } });
/** The patch of seed 000, whose header counts one line too many. */
const miscounted =
  '--- src/main.rs\n+++ src/main.rs\n@@ -1,3 +1,4 @@\n fn main() {\n+ println!("hello");\n }';
const image = { type: 'image', content: { data: 'AAAA', mediaType: 'image/png' } };
const picture = { type: 'image', data: 'AAAA', mediaType: 'image/png' };

export const fallbackSamples: Samples = [
  { story: 'a text at the end', events: shown(diff(), text), status: 'pass' },
  { story: 'no text', events: shown(diff()), status: 'warn', says: /its last is "diff"/ },
  {
    story: 'a text of several lines',
    events: shown({ type: 'text', content: 'a\nb' }),
    status: 'warn',
    says: /several lines/,
  },
  {
    story: 'a text that hides a diff',
    events: shown(text, diff(), text),
    status: 'warn',
    says: /never shown/,
  },
  { story: 'no display_as', events: result({}), status: 'not-applicable' },
];

export const diffSamples: Samples = [
  { story: 'a unified diff', events: shown(diff(), text), status: 'pass' },
  {
    story: 'the example of seed 000',
    events: shown(diff({ patch: miscounted }), text),
    status: 'warn',
    says: /wrong line counts \(corrected\)/,
  },
  {
    story: 'no patch',
    events: shown(diff({ patch: 'a became b' }), text),
    status: 'fail',
    says: /display_as\[0\]/,
  },
  {
    story: 'no path',
    events: shown({ type: 'diff', content: { patch } }, text),
    status: 'fail',
    says: /path/,
  },
  { story: 'only a text', events: shown(text), status: 'not-applicable' },
];

export const imageSamples: Samples = [
  {
    story: 'a description, and a text after the image',
    events: result({
      content: [{ type: 'text', text: 'A red square.' }, picture],
      display_as: [image, text],
    }),
    status: 'pass',
  },
  { story: 'only an image', events: result({ content: [picture] }), status: 'warn', says: /describes/ },
  {
    story: 'an empty description',
    events: result({ content: [{ type: 'text', text: ' ' }, picture] }),
    status: 'warn',
  },
  { story: 'no text after an image', events: shown(text, image), status: 'warn', says: /display_as\[1\]/ },
  { story: 'no image', events: shown(text), status: 'not-applicable' },
];
