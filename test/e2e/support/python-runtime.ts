import { afterAll, beforeAll } from 'vitest';
import * as z from 'zod';
import { type PythonPeer, startPythonPeer } from './python-peer.js';

const livedSchema = z.tuple([z.number(), z.string()]);

export interface Lived {
  readonly status: number;
  readonly stdout: string;
}

/** The runtime on Python's standard library, as `stdlib_runtime.py` with these words. */
export type PythonRuntime = (...words: string[]) => Promise<Lived>;

/** One for the tests of a file; it waits so many seconds for a result: what is asked for is quick, or never comes. */
export function pythonRuntime(limitS = 5): PythonRuntime {
  let peer: PythonPeer;
  beforeAll(() => {
    peer = startPythonPeer('stdlib_runtime.py', { LIMIT_S: String(limitS) });
  });
  afterAll(() => peer.stop());
  return async (...words) => {
    const [status, stdout] = livedSchema.parse(await peer.ask(...words));
    return { status, stdout };
  };
}
