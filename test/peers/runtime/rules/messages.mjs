/** Each message once, in the order of first arrival: the same bytes again are a retry. */
export function messagesOf({ callbacks }) {
  const messages = new Map();
  for (const [index, callback] of callbacks.entries()) {
    const key = callback.bytes.toString('latin1');
    const message = messages.get(key) ?? { place: index + 1, body: callback.body, attempts: [] };
    message.attempts.push(callback);
    messages.set(key, message);
  }
  return [...messages.values()];
}

export function isAccepted({ status }) {
  return status !== null && status >= 200 && status < 300;
}
