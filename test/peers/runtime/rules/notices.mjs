export function* closeFaults({ status, body }) {
  if (status !== 200) yield { id: 'TOOL-CLOSE', why: `close_thread was answered ${status}` };
  if (body !== '')
    yield { id: 'TOOL-CLOSE', why: `close_thread was answered with a body: ${body.slice(0, 100)}` };
}

export function* cancelFaults({ status }) {
  if (status !== 200) yield { id: 'TOOL-CANCEL', why: `cancel_tool_call was answered ${status}` };
}

/** It may fail, but has to say so: with a 4xx or 5xx and a message. */
export function* migrationFaults({ status, body }) {
  const isClear = status === 200 || (status >= 400 && body !== '');
  if (!isClear)
    yield { id: 'TOOL-MIGRATE', why: `migrate was answered ${status} with ${JSON.stringify(body)}` };
}
