import type { Log } from '../../exchange/log.js';
import type { SessionScript } from '../../fixtures/session/script.js';
import type { Clock } from '../../system/clock.js';

/** Everything a session platform can be told; nothing is needed. */
export interface SessionPlatformOptions {
  /** Read by `readSessionScript`, or checked by `parseSessionScript`; one pending call of `lookup_order` unless told. */
  readonly script?: SessionScript;
  /** What clients show as `Authorization: Bearer …`; a random one unless told. */
  readonly key?: string;
  /** 127.0.0.1 unless told. */
  readonly host?: string;
  /** Any free one unless told. */
  readonly port?: number;
  /** Host names that requests may use besides the loopback's. */
  readonly allowHosts?: readonly string[];
  /** How many events are remembered. */
  readonly keep?: number;
  readonly clock?: Clock;
  /** Where its events go; a log of its own unless told. */
  readonly log?: Log;
}

/** What holds where nobody says otherwise. */
export const DEFAULTS = {
  /** Of a body; the documented limit (platforms). */
  maxBody: 5 * 1024 * 1024,
  keep: 10_000,
} as const;

/** The session that is there from the start. */
export const FIRST_SESSION = 'session_1';
