import { SEED_RESULTS as SEED_MESSAGES } from '../../protocol/seed-messages.js';

/** The examples of the protocol's pages "Tool Result" (seed 000) and "Tool Invocation" (seed 004), and what must come of each. */

export interface SeedResult {
  readonly message: string;
  readonly status: number;
  readonly display: { readonly chosen: number | null; readonly type: string };
  /** What `-o plain` shows of it. */
  readonly drawn: string;
  /** The ids of the warnings it deserves. */
  readonly ids: readonly string[];
}

export const SEED_RESULTS = {
  request: {
    message: SEED_MESSAGES.request,
    status: 0,
    display: { chosen: 0, type: 'text' },
    drawn: 'HUMAN display_as[0] text (the first segment)\nDeployed instance i-0abc123\n',
    ids: [],
  },
  structured: {
    message: SEED_MESSAGES['structured results'],
    status: 0,
    display: { chosen: null, type: 'text' },
    drawn: 'pretty-printed\n{\n  "instances": [',
    ids: [],
  },
  text_display: {
    message: SEED_MESSAGES['a simple text-only display'],
    status: 0,
    display: { chosen: 0, type: 'text' },
    drawn: '\nedit_file src/main.rs — 1 insertion\n',
    ids: [],
  },
  diff_display: {
    message: SEED_MESSAGES['a diff display with text fallback'],
    status: 0,
    display: { chosen: 0, type: 'diff' },
    drawn: 'src/main.rs +1 −0\n@@ -1,2 +1,3 @@\n1 1   fn main() {\n  2 +  println!("hello");\n2 3   }\n',
    ids: ['TOOL-DIFF'],
  },
  error: {
    message: SEED_MESSAGES['error handling'],
    status: 5,
    display: { chosen: null, type: 'text' },
    drawn: '\nError: API rate limit exceeded. Retry after 60 seconds.\n',
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
