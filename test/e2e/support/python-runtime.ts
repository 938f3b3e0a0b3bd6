import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';

const RUNTIME = fileURLToPath(new URL('../../peers/stdlib_runtime.py', import.meta.url));
const toldSchema = z.tuple([z.number(), z.number(), z.string()]);

export interface Lived {
  readonly status: number;
  readonly stdout: string;
}

/** The runtime on Python's standard library, which lives through many things, side by side. */
export interface PythonRuntime {
  /** As `stdlib_runtime.py` with these words. */
  run(...words: string[]): Promise<Lived>;
  stop(): Promise<unknown>;
}

/** Starts it; it waits for a result for 3 s: what is asked for is quick, or never comes. */
export function startPythonRuntime(): PythonRuntime {
  const child = spawn('python3', [RUNTIME, '-'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, LIMIT_S: '3' },
  });
  const waiting: ((lived: Lived) => void)[] = [];
  createInterface(child.stdout).on('line', line => {
    const [number, status, stdout] = toldSchema.parse(JSON.parse(line));
    waiting[number]?.({ status, stdout });
  });
  return {
    run: (...words) =>
      new Promise(resolve => {
        waiting.push(resolve);
        child.stdin.write(`${JSON.stringify(words)}\n`);
      }),
    stop: () => {
      child.stdin.end();
      return once(child, 'exit');
    },
  };
}
