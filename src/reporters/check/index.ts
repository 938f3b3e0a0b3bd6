import type { CheckFormat } from './format.js';
import { githubCheck } from './github.js';
import { humanCheck } from './human.js';
import { jsonCheck } from './json.js';
import { junitCheck } from './junit.js';
import { markdownCheck } from './markdown.js';

/** The formats of `check --reporter`. A new one is one file and one line here. */
export const CHECK_FORMATS = {
  human: humanCheck,
  json: jsonCheck,
  junit: junitCheck,
  github: githubCheck,
  markdown: markdownCheck,
} as const satisfies Readonly<Record<string, CheckFormat>>;

export type CheckFormatName = keyof typeof CHECK_FORMATS;
