import type { HttpClient } from '../transport/client.js';
import { retrying } from '../transport/retry.js';

const RETRIES = 4;
const WITHIN_MS = 10_000;

class Refused extends Error {
  constructor(readonly status: number) {
    super(`the callback was answered ${status}`);
  }
}

/**
 * POSTs a callback until it is taken, for a while: again after a 5xx or a fault on the wire, never after a 3xx or 4xx
 * (TOOL-RETRY, TOOL-NORETRY). Resolves to whether it arrived.
 */
export async function deliver(client: HttpClient, url: string, message: unknown): Promise<boolean> {
  const body = Buffer.from(JSON.stringify(message));
  const post = async () => {
    const { status } = await client.send({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json' },
      body,
      read: 'nothing',
    });
    if (status >= 300) throw new Refused(status);
  };
  const shouldRetry = (error: unknown) => !(error instanceof Refused) || error.status >= 500;
  return retrying(post, { retries: RETRIES, within: WITHIN_MS, shouldRetry }).then(
    () => true,
    () => false,
  );
}
