import { decodeUtf8 } from '../text/json.js';
import { jsonFault } from '../text/json-fault.js';

/** Why a file is no JSON, with the line and the column where that begins to show; `reason` where there is no such place. */
export function jsonTrouble(bytes: Uint8Array, reason: string): string {
  const text = decodeUtf8(bytes);
  const fault = text === null ? null : jsonFault(text.replace(/^\uFEFF/, ''));
  return fault ? `line ${fault.line}, column ${fault.column}: ${fault.message}` : reason;
}
