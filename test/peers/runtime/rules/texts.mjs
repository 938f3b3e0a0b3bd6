const INTERNALS =
  /\n\s+at .+[:(]|Traceback \(most recent call last\)|\bnode:internal\b|\bnode_modules\b|file:\/\//;

/** No secret in any message, no internals in an error text. */
export function* textFaults({ callbacks, secrets }) {
  for (const [index, { body, raw }] of callbacks.entries()) {
    if (secrets.some(secret => raw.includes(secret)))
      yield { id: 'TOOL-SECRET', why: `callback ${index + 1}: a secret is in the message` };
    const text = typeof body?.text === 'string' ? body.text : '';
    if (/^error\b/i.test(text) && !text.startsWith('Error: '))
      yield { id: 'TOOL-ERRPREFIX', why: `callback ${index + 1}: the text begins with ${text.slice(0, 20)}` };
    if (text.startsWith('Error') && INTERNALS.test(text))
      yield { id: 'TOOL-NOLEAK', why: `callback ${index + 1}: internals are in the error text` };
  }
}
