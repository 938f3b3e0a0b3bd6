import type { Allows } from '../../transport/allowed-destinations.js';
import type { SecretPaths } from '../../transport/secret-paths.js';
import type { CallKeys, RecordedCall } from '../calls.js';
import type { Desk } from '../desk.js';
import type { ToolAddress } from '../tool-address.js';

/** A question that a tool asked, and where its answer goes on to. */
export interface RecordedQuestion {
  readonly call: RecordedCall;
  readonly responseUrl: string;
}

/** What the routes of a recorder share. */
export interface Office {
  readonly desk: Desk;
  readonly tool: ToolAddress;
  readonly keys: CallKeys;
  readonly callbacks: SecretPaths<RecordedCall>;
  readonly questions: SecretPaths<RecordedQuestion>;
  readonly allows: Allows;
  /** Our base URL as the tool reaches us. */
  readonly callbackBase: () => string;
}

/** Our base URL as whoever sent this reaches us: the guard has judged its Host. */
export function baseFor({ headers }: { readonly headers: { readonly host?: string | undefined } }): string {
  return `http://${headers.host}`;
}

/** A path without its query. */
export function pathOf(target: string): string {
  return target.split('?', 1)[0] ?? target;
}
