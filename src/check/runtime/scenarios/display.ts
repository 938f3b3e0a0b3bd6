import type { Scenario } from '../scenario.js';

const text = (content: unknown) => ({ type: 'text', content });

const PATCH = '--- a/note.txt\n+++ b/note.txt\n@@ -1 +1 @@\n-before\n+after\n';

const diff = (patch: unknown = PATCH) => ({ type: 'diff', content: { path: 'note.txt', patch } });

const IMAGE = { type: 'image', content: { data: 'iVBORw0KGgo=', mediaType: 'image/png' } };

const UNKNOWN = { type: 'x-hologram', content: { depth: 3 } };

/** The segments of each operation. */
const SEGMENTS = {
  diff: [diff(), text('a diff first')],
  unknown: [UNKNOWN, diff(), text('an unknown segment first')],
  only_unknown: [UNKNOWN],
  image: [IMAGE, text('an image first')],
  malformed: [diff(42), { type: 'diff' }, text('a malformed diff first')],
  text: [text('a text first'), diff()],
  empty: [],
};

/** Display segments. The model gets the text in any case. */
export const displayScenarios: readonly Scenario[] = [
  {
    name: 'display',
    title: 'results with display segments: unknown, image, diff, malformed diff, text first, none',
    checks: ['RT-DISPLAY', 'RT-TEXT'],
    needs: ['human'],
    servers: [
      {
        fixtures: [
          ...Object.entries(SEGMENTS).map(([operation, display_as]) => ({
            match: { operation },
            reply: { result: { text: `the whole text of ${operation}`, display_as } },
          })),
          { match: { operation: 'none' }, reply: { result: { text: 'no segments' } } },
        ],
      },
    ],
    run: async session => {
      const operations = [...Object.keys(SEGMENTS), 'none'];
      for (const operation of operations) await session.call(operation);
      await session.quiet();
    },
  },
];
