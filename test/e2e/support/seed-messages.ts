import { SEED_RESULTS as SEED_MESSAGES } from '../../protocol/seed-messages.js';

/** The examples of the protocol's pages "Tool Result" (seed 000) and "Tool Invocation" (seed 004), and what must come of each. */

export interface SeedResult {
  readonly message: string;
  readonly status: number;
  readonly display: { readonly chosen: number | null; readonly type: string };
  /** The ids of the warnings it deserves. */
  readonly ids: readonly string[];
}

export const SEED_RESULTS = {
  request: {
    message: SEED_MESSAGES.request,
    status: 0,
    display: { chosen: 0, type: 'text' },
    ids: [],
  },
  structured: {
    message: SEED_MESSAGES['structured results'],
    status: 0,
    display: { chosen: null, type: 'text' },
    ids: [],
  },
  text_display: {
    message: SEED_MESSAGES['a simple text-only display'],
    status: 0,
    display: { chosen: 0, type: 'text' },
    ids: [],
  },
  diff_display: {
    message: SEED_MESSAGES['a diff display with text fallback'],
    status: 0,
    display: { chosen: 0, type: 'diff' },
    ids: ['TOOL-DIFF'],
  },
  error: {
    message: SEED_MESSAGES['error handling'],
    status: 5,
    display: { chosen: null, type: 'text' },
    ids: [],
  },
} satisfies Readonly<Record<string, SeedResult>>;

export const SEED_INVOCATION = {
  operation: 'subscribe_github_events',
  arguments: { owner: 'acme', repo: 'api', event_type: 'pull_request' },
  id: 'call_abc123',
  call_id: null,
  callback_url: 'https://agent.example.com/callback',
  group_id: 'thread_xyz',
  thread_ancestors: ['thread_root', 'thread_parent'],
  user_id: 'user_42',
};
