import type { Clock } from '../system/clock.js';
import type { HttpClient } from '../transport/client.js';

/** What a recorder is told. */
export interface RecorderOptions {
  /** Of the tool: the base of its server, http or https. */
  readonly url: string;
  /** 127.0.0.1 unless told. */
  readonly host?: string;
  /** Any free one unless told. */
  readonly port?: number;
  /** Host names that requests may use besides the loopback's. */
  readonly allowHosts?: readonly string[];
  /** Origins that callbacks may go to besides loopback. */
  readonly allowCallbacks?: readonly string[];
  /** How the tool reaches us, without a slash at the end; our own address unless told. */
  readonly callbackBase?: string;
  /** Bytes of a message. */
  readonly maxBody?: number;
  /** How long what is on its way may go on at the end, in ms. */
  readonly drainMs?: number;
  /** What passes messages on; one made for throughput unless told. */
  readonly client?: () => Promise<HttpClient>;
  readonly clock?: Clock;
}

/** What holds where nobody says otherwise; the command's help tells the same figures. */
export const DEFAULTS = { maxBody: 64 * 1024 * 1024, drainMs: 5_000 } as const;
