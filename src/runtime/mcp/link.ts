import type { Transport } from '@modelcontextprotocol/client';

/** A transport of the SDK's that says when an answer can come no more; the SDK itself would go on waiting. */
export interface Link extends Transport {
  /** Rejects with a TransportError then. */
  readonly lost: Promise<never>;
  /** What the server said last, where it was started here: lines of its stderr. */
  readonly lastWords: readonly string[];
  /** What came and was no message: how often, and the beginning of the first. */
  readonly garbage: { readonly count: number; readonly first: string };
}
