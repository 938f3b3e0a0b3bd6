/** The example messages of the protocol's two pages (seeds 000 and 004), character for character. */

export const SEED_INVOCATION = `{
"operation": "subscribe_github_events",
"arguments": {
"owner": "acme",
"repo": "api",
"event_type": "pull_request"
},
"id": "call_abc123",
"call_id": null,
"callback_url": "https://agent.example.com/callback",
"group_id": "thread_xyz",
"thread_ancestors": ["thread_root", "thread_parent"],
"user_id": "user_42"
}`;

export const SEED_RESULTS = {
  request: `{
"type": "tool_result",
"group_id": "thread_xyz",
"id": "call_abc123",
"call_id": null,
"text": "Deployment completed successfully. Instance i-0abc123 is running.",
"display_as": [
{ "type": "text", "content": "Deployed instance i-0abc123" }
]
}`,
  'structured results': `{
"type": "tool_result",
"group_id": "thread_xyz",
"id": "call_abc123",
"text": "{\\"instances\\": [{\\"id\\": \\"i-0abc123\\", \\"state\\": \\"running\\"}], \\"count\\": 1}"
}`,
  'a simple text-only display': `{
"type": "tool_result",
"group_id": "thread_xyz",
"id": "call_abc123",
"text": "Replaced text in src/main.rs",
"display_as": [
{ "type": "text", "content": "edit_file src/main.rs — 1 insertion" }
]
}`,
  'a diff display with text fallback': `{
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
  'error handling': `{
"type": "tool_result",
"group_id": "thread_xyz",
"id": "call_abc123",
"text": "Error: API rate limit exceeded. Retry after 60 seconds."
}`,
} as const satisfies Readonly<Record<string, string>>;
