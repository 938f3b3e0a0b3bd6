import type { Reading } from './kind.js';

/** Content that is not what its type promises; paths are those inside `content`. */
export function malformed(type: string, ...faults: readonly string[]): Reading {
  return { ok: false, reason: `malformed ${type}: ${faults.join('; ')}` };
}
