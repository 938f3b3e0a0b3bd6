import type { ServerOptions } from 'node:http';

/** What one peer may take of a server (threats, row 14). Times in milliseconds. */
export interface ServerLimits {
  /** Until the head of a request must be complete, a silent connection included. */
  readonly headersMs: number;
  /** Until the whole request must be complete; and how long a peer may take nothing of its answer. */
  readonly requestMs: number;
  readonly connections: number;
  /** Of the bodies of all requests that are being read or answered; the largest body that is allowed always fits. */
  readonly bodyBytes: number;
  /** Of the bodies of all answers that were sent and are not read yet. */
  readonly unreadBytes: number;
  readonly headerBytes: number;
  /** How often the two deadlines are looked at: they are late by at most this. */
  readonly checkEveryMs: number;
  /** How long a refused sender may go on before it is cut off. */
  readonly lingerMs: number;
  /** How long requests in progress may go on once the server closes. */
  readonly closeMs: number;
}

const MIB = 1024 * 1024;

export const DEFAULT_LIMITS: ServerLimits = {
  headersMs: 5_000,
  requestMs: 15_000,
  connections: 256,
  bodyBytes: 128 * MIB,
  unreadBytes: 128 * MIB,
  headerBytes: 16 * 1024,
  checkEveryMs: 500,
  lingerMs: 1_000,
  closeMs: 500,
};

/** The part of the limits that node:http wants at construction. */
export function parserOptions(limits: ServerLimits): ServerOptions {
  return {
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: limits.checkEveryMs,
    maxHeaderSize: limits.headerBytes,
    insecureHTTPParser: false,
    requireHostHeader: false, // the guard judges Host itself, and says what was wrong
  };
}
