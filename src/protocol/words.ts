/** Member names and types of the protocol, which redaction must keep. */
export const PROTOCOL_WORDS: ReadonlySet<string> = new Set([
  ...['operation', 'arguments', 'id', 'call_id', 'callback_url', 'group_id', 'thread_ancestors', 'user_id'],
  ...[
    'name',
    'description',
    'endpoint',
    'tools',
    'needsMigration',
    'inputSchema',
    'outputSchema',
    'displayScript',
  ],
  ...['annotations', 'requiresAuth', 'readOnly', 'destructive', 'idempotent', 'longRunning'],
  ...['tool_result', 'oauth', 'user_choice', 'subscription_event', 'view_update'],
  ...['type', 'text', 'content', 'display_as', 'subscription', 'auth_url', 'prompt', 'choices', 'default'],
  ...['response_url', 'tool_call_id', 'associative', 'final', 'view_type'],
  ...['diff', 'path', 'patch', 'image', 'data', 'mediaType'],
  ...['thread_id', 'session_id', 'destination_url', 'selected'],
]);
