import type { BrokenTool, BrokenTools } from './broken-tool.js';

const PATCH = '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+b\n';
const DIFF = { type: 'diff', content: { path: 'a.txt', patch: PATCH } };
const IMAGE = { type: 'image', data: 'iVBORw0KGgo=', mediaType: 'image/png' };
const LINE = { type: 'text', content: 'a line' };

/** What is wrong with what a person sees. */
export const displays: BrokenTools = {
  'TOOL-FALLBACK': [showing('has a diff alone', { display_as: [DIFF] }, /./)],
  'TOOL-DIFF': [
    showing(
      'has no patch',
      { display_as: [{ type: 'diff', content: { path: 'a.txt' } }, LINE] },
      /display_as\[0\]/,
    ),
    showing(
      'has a patch that is invalid',
      { display_as: [{ type: 'diff', content: { path: 'a.txt', patch: 'a became b' } }, LINE] },
      /display_as\[0\]/,
    ),
  ],
  'TOOL-IMAGE': [
    showing(
      'begins with it',
      { content: [IMAGE, { type: 'text', text: 'a cat' }] },
      /does not begin with a text/,
    ),
    showing(
      'has no text after it',
      { display_as: [LINE, { type: 'image', content: { data: IMAGE.data, mediaType: IMAGE.mediaType } }] },
      /no text follows it/,
    ),
  ],
};

function showing(does: string, fields: object, says: RegExp): BrokenTool {
  return { does, fixture: { reply: { result: { text: 'done', ...fields } } }, says };
}
