/** A callback URL is used exactly as given, and by the call that it was given to. */
export function* strayFaults(calls, strays) {
  for (const { url } of strays)
    yield { id: 'TOOL-OPAQUE', why: `a callback came to ${url}, which no one was given` };
  const owners = new Map(calls.map(({ invocation }) => [keyOf(invocation), invocation]));
  for (const { invocation, callbacks } of calls) {
    for (const { body } of callbacks) {
      const owner = owners.get(keyOf(body));
      if (owner && owner.callback_url !== invocation.callback_url)
        yield { id: 'TOOL-ISOLATE', why: `a callback of ${owner.id} came to the URL of ${invocation.id}` };
    }
  }
}

function keyOf(names) {
  return JSON.stringify([names?.group_id, names?.id ?? names?.tool_call_id]);
}
