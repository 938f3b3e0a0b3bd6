import { acknowledged, call, resultArrives } from '../../../events/build.js';

/** A diff with two hunks. */
export const PATCH = '--- a\n+++ a\n@@ -1 +1 @@\n-old\n+new\n@@ -9 +9 @@\n-then\n+now\n';

/** A call without a result. */
export const pending = [...call(), ...acknowledged()];
/** The same call with a result: a text, and a diff with two hunks. */
export const settled = [
  ...pending,
  ...resultArrives({
    text: 'said to the LLM',
    display_as: [{ type: 'diff', content: { path: 'a', patch: PATCH } }],
  }),
];
