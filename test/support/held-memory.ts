import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** The memory of this process without what can be collected. */
export function heldMemory(): NodeJS.MemoryUsage {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage();
}
