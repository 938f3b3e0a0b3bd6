import type { ProbeCall } from './prober.js';

export const MAX_ID_LENGTH = 200;

/** Endings of a callback URL, after its token. */
export const URL_ENDINGS: readonly string[] = [
  '?thread=a&attempt=1',
  '?token=3f1c&next=%2Fa%3Fb%3Dc&empty=',
  '/',
  '/results/3f1c',
  '/%c3%a9%2fb%20c',
  '/Results?tag=a&tag=B',
];

/** Unusual ids that a model or another runtime may use. */
export const ODD_IDS: readonly string[] = [
  `"quoted" and 'quoted'`,
  'a/b\\c?d#e&f=g',
  '../../etc/passwd',
  '%2f%2e%00',
  'Zoë 工具 🛠️',
  '  padded',
  'x'.repeat(MAX_ID_LENGTH),
];

/** Ids in notices that a tool must not use as a path, a query or a log line. */
export const HOSTILE_IDS: readonly string[] = [
  '../../etc/passwd',
  '..%2f..%2fetc%2fpasswd',
  '',
  'x'.repeat(4_096),
  'Zoë 工具 🛠️ \u0000 \u202e',
];

/**
 * Members beside the required ones, in groups; the first call has none. Frameworks refuse the keys of prototypes, so these have calls of
 * their own.
 */
export const EXTRA_MEMBERS: readonly Readonly<Record<string, unknown>>[] = [
  {},
  { user_id: 'user_1', thread_ancestors: ['thread_root', 'thread_parent'] },
  { call_id: null, user_id: null, thread_ancestors: null },
  { 'x-unknown': { deep: [1, 2, 3] }, version: 99 },
  { constructor: { prototype: { admin: true } } },
  { ['__proto__']: { admin: true } },
];

/** Malformed bodies without a callback URL that can be used. */
export const UNREADABLE: readonly NonNullable<ProbeCall['body']>[] = [
  () => '',
  () => '{"operation":',
  invocation => JSON.stringify([invocation]),
  () => 'null',
  invocation => JSON.stringify({ ...invocation, callback_url: 'not a URL' }),
];

/** Malformed invocations with a callback URL. */
export const INCOMPLETE: readonly NonNullable<ProbeCall['fields']>[] = [
  { operation: undefined },
  { operation: 5, arguments: 'none' },
  { arguments: undefined },
  { arguments: ['none'] },
];
