import type { Refusal } from '../transport/server.js';

/** What is told of a request that no route answered. Almost a token is almost a secret. */
export function refusalText({ method = '', target = '', status, detail }: Refusal): string {
  return `a request was refused with ${status}, since ${detail}: ${method} ${target.replace(/[\w-]{16,}/g, '…')}`;
}
