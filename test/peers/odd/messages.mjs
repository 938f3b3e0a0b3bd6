import { hostileFields } from './hostile.mjs';

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const CONTENT = [
  { type: 'text', text: 'before the image' },
  { type: 'image', data: PIXEL, mediaType: 'image/png' },
  { type: 'text', text: 'after the image' },
];

/** Operations that are odd in one message: what a good tool would send in, what this one sends out. */
export const messages = {
  extra_fields: reply => ({
    ...reply,
    surprise: true,
    meta: { cost: 0.5, tags: ['a', null] },
    display_as: [
      {
        type: 'diff',
        language: 'text',
        content: {
          path: 'a.txt',
          patch: '--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-before\n+after\n',
          mode: 0o644,
        },
      },
      { type: 'text', content: 'extra fields everywhere', weight: 1 },
    ],
  }),

  content_items: ({ text, ...reply }) => ({ ...reply, content: CONTENT }),

  content_and_text: reply => ({ ...reply, text: 'the text', content: CONTENT }),

  forged_id: reply => ({ ...reply, id: 'forged-id' }),

  forged_group: reply => ({ ...reply, group_id: 'forged-group' }),

  wrong_call_id: reply => ({ ...reply, call_id: 'wrong-call-id' }),

  missing_text: ({ text, ...reply }) => reply,

  unknown_callback_type: reply => ({ ...reply, type: 'telepathy' }),

  not_object: reply => [reply],

  lone_surrogate: reply => ({ ...reply, text: 'before \ud800 after' }),

  hostile_text: reply => ({ ...reply, ...hostileFields }),

  /** Parsed, since in an object literal `__proto__` would set the prototype. */
  proto_keys: reply => ({
    ...reply,
    ...JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'),
  }),

  deep_json: reply => ({ ...reply, deep: nested(200) }),

  no_display: reply => ({ ...reply, text: 'one line\nanother line\na third line' }),

  empty_text: reply => ({ ...reply, text: '' }),
};

function nested(depth) {
  return depth === 0 ? 'bottom' : { in: nested(depth - 1) };
}
