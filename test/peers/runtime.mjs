import { openRuntime } from './runtime/open.mjs';

export { openRuntime };

/**
 * One call against the tool server at `baseUrl`. Comes back with the first `tool_result`, with an
 * acknowledgement other than 200, or when the limit is over: the callbacks tell which.
 * A choice is answered with its default, as by an absent user.
 * @throws Error without a toolset or an acknowledgement
 */
export async function invokeOnce(baseUrl, operation, args, { callId, limitMs = 10_000 } = {}) {
  const runtime = await openRuntime();
  try {
    const call = await runtime.invoke(baseUrl, operation, args, { callId, ackWithinMs: limitMs });
    if (call.ack.error) throw new Error(call.ack.error);
    if (call.ack.status === 200) await resultOrDefault(runtime, call, limitMs).catch(() => {});
    return { ack: call.ack, callbacks: call.callbacks, invocation: call.invocation };
  } finally {
    runtime.close();
  }
}

async function resultOrDefault(runtime, call, limitMs) {
  const isResult = ({ body }) => body?.type === 'tool_result' && body.id === call.invocation.id;
  const first = await call.waitFor(
    callback => isResult(callback) || callback.body?.type === 'user_choice',
    limitMs,
  );
  if (isResult(first)) return;
  await runtime.choose(call, first.body.default);
  await call.waitFor(isResult, limitMs);
}
