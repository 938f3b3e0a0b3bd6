import type * as z from 'zod';
import { faultsOf } from '../../protocol/faults.js';
import type { Reading } from './kind.js';

/** Content that is not what its type promises; paths are those inside `content`. */
export function malformed(type: string, why: z.ZodError | string): Reading {
  const reason = typeof why === 'string' ? why : faultsOf(why).join('; ');
  return { ok: false, reason: `malformed ${type}: ${reason}` };
}
