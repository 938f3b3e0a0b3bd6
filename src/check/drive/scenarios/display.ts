import type { Scenario } from '../scenario.js';
import { callingEach, IMAGE } from './fixtures.js';

const short = (content: string) => ({ type: 'text', content });

const diff = (patch: unknown) => ({ type: 'diff', content: { path: 'note.txt', patch } });

const DIFF = diff('--- a/note.txt\n+++ b/note.txt\n@@ -1 +1 @@\n-before\n+after\n');

const UNKNOWN = { type: 'x-hologram', content: { depth: 3 } };

/** The segments of each operation. */
const SEGMENTS = {
  diff: [DIFF, short('a diff first')],
  unknown: [UNKNOWN, DIFF, short('an unknown segment first')],
  only_unknown: [UNKNOWN],
  image: [{ type: 'image', content: IMAGE }, short('an image first')],
  malformed: [diff(42), { type: 'diff' }, short('a malformed diff first')],
  text: [short('a text first'), DIFF],
  empty: [],
  none: undefined,
};

/** A person sees the first segment that the runtime can show; the model gets the text. */
export const displayScenarios: readonly Scenario[] = [
  callingEach(
    {
      name: 'display',
      title: 'results with display segments: unknown, image, diff, malformed diff, text first, none',
      checks: ['RT-DISPLAY', 'RT-TEXT'],
      needs: ['human'],
    },
    Object.fromEntries(
      Object.entries(SEGMENTS).map(([operation, display_as]) => [
        operation,
        { text: `the whole text of ${operation}`, ...(display_as && { display_as }) },
      ]),
    ),
  ),
];
