/** The examples of the protocol's pages "Tool Result" (seed 000) and "Tool Invocation" (seed 004), unchanged. */

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
    message: `{
"type": "tool_result",
"group_id": "thread_xyz",
"id": "call_abc123",
"call_id": null,
"text": "Deployment completed successfully. Instance i-0abc123 is running.",
"display_as": [
{ "type": "text", "content": "Deployed instance i-0abc123" }
]
}`,
    status: 0,
    display: { chosen: 0, type: 'text' },
    drawn: 'HUMAN display_as[0] text (the first segment)\nDeployed instance i-0abc123\n',
    ids: [],
  },
  structured: {
    message: `{
"type": "tool_result",
"group_id": "thread_xyz",
"id": "call_abc123",
"text": "{\\"instances\\": [{\\"id\\": \\"i-0abc123\\", \\"state\\": \\"running\\"}], \\"count\\": 1}"
}`,
    status: 0,
    display: { chosen: null, type: 'text' },
    drawn: 'indented here; sent as it is\n{\n  "instances": [',
    ids: [],
  },
  text_display: {
    message: `{
"type": "tool_result",
"group_id": "thread_xyz",
"id": "call_abc123",
"text": "Replaced text in src/main.rs",
"display_as": [
{ "type": "text", "content": "edit_file src/main.rs — 1 insertion" }
]
}`,
    status: 0,
    display: { chosen: 0, type: 'text' },
    drawn: '\nedit_file src/main.rs — 1 insertion\n',
    ids: [],
  },
  diff_display: {
    message: `{
"type": "tool_result",
"group_id": "thread_xyz",
"id": "call_abc123",
"text": "Replaced text in src/main.rs",
"display_as": [
{
"type": "diff",
"content": {
"path": "src/main.rs",
"patch": "--- src/main.rs\\n+++ src/main.rs\\n@@ -1,3 +1,4 @@\\n fn main() {\\n+ println!(\\"hello\\");\\n }"
}
},
{ "type": "text", "content": "edit_file src/main.rs — 1 insertion" }
]
}`,
    status: 0,
    display: { chosen: 0, type: 'diff' },
    drawn: 'src/main.rs +1 −0\n@@ -1,2 +1,3 @@\n1 1   fn main() {\n  2 +  println!("hello");\n2 3   }\n',
    ids: ['TOOL-DIFF'],
  },
  error: {
    message: `{
"type": "tool_result",
"group_id": "thread_xyz",
"id": "call_abc123",
"text": "Error: API rate limit exceeded. Retry after 60 seconds."
}`,
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
