import { expect } from 'vitest';
import type { Report } from './report.js';

/** What must come of one operation of `test/peers/odd-tool.mjs`. */
export interface OddCase {
  readonly args?: readonly string[];
  /** 0 by default. */
  readonly status?: number;
  /** `success` by default. */
  readonly outcome?: string;
  /** What the LLM gets. */
  readonly text: string;
  /** One accepted result by default. */
  readonly verdicts?: readonly string[];
  /** The ids of all warnings; none by default. */
  readonly ids?: readonly (string | undefined)[];
  /** Something the warnings must say. */
  readonly says?: RegExp;
  /** The segment chosen and those skipped; none by default. */
  readonly display?: Partial<NonNullable<Report['display']>>;
}

const SHORT = '1s';
/** A payload by the convention of seed 002: what is ours about it (`basis`) is not for the LLM. */
const TIMED_OUT = {
  args: ['--timeout', SHORT],
  status: 7,
  outcome: 'timeout',
  text: '{"timeout":{"durationMs":1000}}',
} as const;
const LINGER = ['--linger', '1s'];

export const DELIVERIES: Readonly<Record<string, OddCase>> = {
  delivered_twice: {
    args: LINGER,
    text: 'delivered_twice done',
    verdicts: ['settles 200', 'duplicate 200'],
    ids: [undefined],
  },
  two_results: {
    args: LINGER,
    text: 'first result',
    verdicts: ['settles 200', 'duplicate 200'],
    ids: ['TOOL-ONCE'],
  },
  then_right: {
    text: 'then_right done',
    verdicts: ['discarded 404', 'settles 200'],
    ids: ['TOOL-ID'],
    says: /forged-id/,
  },
  subscription_event_unknown: {
    text: 'subscription_event_unknown done',
    verdicts: ['discarded 404', 'settles 200'],
    ids: ['TOOL-SUB'],
  },
  late_ms: { args: ['ms=50'], text: 'late_ms done' },
  misdirected: {
    ...TIMED_OUT,
    verdicts: [],
    ids: ['TOOL-OPAQUE'],
    says: /1 post to a wrong callback URL/,
  },
  misdirected_origin_header: {
    ...TIMED_OUT,
    verdicts: ['rejected 403'],
    ids: ['TOOL-POST'],
    says: /403.*web page/,
  },
  wrong_type: { ...TIMED_OUT, verdicts: ['rejected 415'], ids: ['TOOL-POST'], says: /415.*Content-Type/ },
  malformed_json: { ...TIMED_OUT, verdicts: ['rejected 400'], ids: ['TOOL-POST'], says: /not valid JSON/ },
  bom: { text: 'bom done', ids: ['TOOL-POST'], says: /byte-order mark/ },
  invalid_utf8: { ...TIMED_OUT, verdicts: ['rejected 400'], ids: ['TOOL-POST'], says: /UTF-8/ },
  gzip_callback: { ...TIMED_OUT, verdicts: ['rejected 415'], ids: ['TOOL-POST'], says: /415.*encoded/ },
  big_header: { ...TIMED_OUT, verdicts: [], ids: [undefined], says: /431.*headers are too large/ },
};

const IMAGE_TEXT = 'before the image\n[image: image/png, 70 bytes]\nafter the image';

/** Made of the message's own oddity; invisible and control characters go to the LLM as they are. */
const HOSTILE =
  'text \u001b]0;owned title\u0007 \u001b]8;;https://evil.example/\u001b\\link\u001b]8;;\u001b\\ \u001b]52;c;b3duZWQ=\u0007 ' +
  '\u001b[2J\u001b[H \rcarriage \b\b\bbackspace \u0007 \u202eoverride zero\u200bwidth\u2060\ufeff ' +
  '\u009b31mC1\u009d0;owned title\u009c end';

export const MESSAGES: Readonly<Record<string, OddCase>> = {
  extra_fields: { text: 'extra_fields done', display: { chosen: 0, type: 'diff' } },
  content_items: { text: IMAGE_TEXT, ids: ['TOOL-POST'], says: /content but no text/ },
  content_and_text: { text: IMAGE_TEXT },
  forged_id: { ...TIMED_OUT, verdicts: ['discarded 404'], ids: ['TOOL-ID'], says: /id is "forged-id"/ },
  forged_group: {
    ...TIMED_OUT,
    verdicts: ['discarded 404'],
    ids: ['TOOL-GROUP'],
    says: /group_id is "forged-group"/,
  },
  wrong_call_id: { text: 'wrong_call_id done' },
  missing_text: {
    ...TIMED_OUT,
    verdicts: ['rejected 400'],
    ids: ['TOOL-POST'],
    says: /\$\.text: is required/,
  },
  unknown_callback_type: {
    ...TIMED_OUT,
    verdicts: ['rejected 400'],
    ids: ['TOOL-POST'],
    says: /telepathy/,
  },
  not_object: { ...TIMED_OUT, verdicts: ['rejected 400'], ids: ['TOOL-POST'] },
  lone_surrogate: {
    text: 'before \ud800 after',
    ids: ['RT-SANITIZE', 'TOOL-POST'],
    says: /lone surrogate/,
  },
  hostile_text: {
    text: HOSTILE,
    ids: ['RT-SANITIZE'],
    says: /control or invisible/,
    display: { chosen: 0, type: 'diff' },
  },
  proto_keys: { text: 'proto_keys done' },
  deep_json: { ...TIMED_OUT, verdicts: ['rejected 400'], ids: ['TOOL-POST'], says: /deeper than 128/ },
  no_display: { text: 'one line\nanother line\na third line' },
  empty_text: { text: '' },
};

const skipped = (index: number, type: string, reason: RegExp) => ({
  index,
  type,
  reason: expectMatching(reason),
});

export const DISPLAYS: Readonly<Record<string, OddCase>> = {
  unknown_segments: {
    text: 'unknown_segments done',
    display: {
      chosen: 1,
      type: 'text',
      skipped: [skipped(0, 'hologram', /^the type ".*" is not supported$/)],
    },
  },
  unknown_only: {
    text: 'unknown_only done',
    ids: ['TOOL-FALLBACK'],
    display: {
      chosen: null,
      type: 'text',
      skipped: [
        skipped(0, 'hologram', /^the type ".*" is not supported$/),
        skipped(1, 'scent', /^the type ".*" is not supported$/),
      ],
    },
  },
  seed_diff: {
    text: 'seed_diff done',
    ids: ['TOOL-DIFF'],
    says: /wrong line counts \(corrected\)/,
    display: { chosen: 0, type: 'diff' },
  },
  text_first: {
    text: 'text_first done',
    ids: [undefined, 'TOOL-FALLBACK'],
    says: /the first segment that can be shown is used, so the diff is never shown/,
    display: { chosen: 0, type: 'text' },
  },
  bad_diff_then_text: {
    text: 'bad_diff_then_text done',
    ids: ['TOOL-DIFF'],
    display: { chosen: 1, type: 'text', skipped: [skipped(0, 'diff', /malformed diff/)] },
  },
  two_files_diff: { text: 'two_files_diff done', display: { chosen: 0, type: 'diff' } },
  bad_display_element: {
    ...TIMED_OUT,
    verdicts: ['rejected 400'],
    ids: ['TOOL-POST'],
    says: /\$\.display_as\[0\]/,
  },
};

/** Stands for any string that fits, where a table is compared with `toMatchObject`. */
function expectMatching(pattern: RegExp): string {
  return expect.stringMatching(pattern);
}
