const OF_A_CALL = ['tool_result', 'oauth', 'user_choice'];

/** The names of the call come back unchanged. */
export function* nameFaults({ invocation, callbacks }) {
  for (const [index, { body }] of callbacks.entries()) {
    for (const [id, field, name] of expected(invocation, body)) {
      // A call_id of null, and one that was left out, mean the same.
      const [got, sent] = [body[field] ?? null, name ?? null];
      if (got !== sent)
        yield {
          id,
          why: `callback ${index + 1}: ${field} is ${JSON.stringify(got)} instead of ${JSON.stringify(sent)}`,
        };
    }
  }
}

function* expected({ group_id, id, call_id }, body) {
  if (typeof body !== 'object' || body === null) return;
  yield ['TOOL-GROUP', 'group_id', group_id];
  if (body.type === 'subscription_event') yield ['TOOL-SUB', 'tool_call_id', id];
  if (!OF_A_CALL.includes(body.type)) return;
  yield ['TOOL-ID', 'id', id];
  yield ['TOOL-CALLID', 'call_id', call_id];
}
