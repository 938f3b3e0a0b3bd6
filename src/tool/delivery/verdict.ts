import { type HttpAnswer, TransportError } from '../../transport/client.js';

/** What an attempt came to. */
export type Verdict = { readonly kind: 'delivered'; readonly status: number } | Setback;

/** It did not arrive: nothing will ever make it (`refused`), or another attempt may. */
export interface Setback {
  readonly kind: 'refused' | 'failed';
  readonly why: string;
  /** As the answer said it. */
  readonly retryAfter?: string | undefined;
}

/** Only a 5xx is worth another attempt (TOOL-RETRY, TOOL-NORETRY); a redirect is not followed (threats, row 11). */
export function ofAnswer({ status, headers }: Pick<HttpAnswer, 'status' | 'headers'>): Verdict {
  if (status < 300) return { kind: 'delivered', status };
  if (status < 400)
    return { kind: 'refused', why: `it was answered ${status}, and redirects are not followed` };
  if (status < 500) return { kind: 'refused', why: `it was answered ${status}, which is final` };
  return { kind: 'failed', why: `it was answered ${status}`, retryAfter: headers['retry-after'] };
}

/** What is wrong with the request itself, or with where it goes, stays wrong. */
const FINAL = new Set(['REFUSED_ADDRESS', 'BAD_URL', 'BAD_HEADER']);

export function ofError(error: unknown): Verdict {
  const why = error instanceof Error ? error.message : String(error);
  const isFinal = error instanceof TransportError && FINAL.has(error.code);
  return { kind: isFinal ? 'refused' : 'failed', why };
}
