import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';

const answerSchema = z.tuple([z.number()], z.unknown());

/** A peer on Python's standard library that is asked many things, side by side: to start one takes longer than what it is asked. */
export interface PythonPeer {
  /** What it says of these words. */
  ask(...words: string[]): Promise<unknown[]>;
  stop(): Promise<unknown>;
}

/** Starts `file` of test/peers with `-`: each line of its stdin is a question, and each that it prints has the number of one. */
export function startPythonPeer(file: string, env: Readonly<Record<string, string>> = {}): PythonPeer {
  const path = fileURLToPath(new URL(`../../peers/${file}`, import.meta.url));
  const child = spawn('python3', [path, '-'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  const waiting: ((answer: unknown[]) => void)[] = [];
  createInterface(child.stdout).on('line', line => {
    const [number, ...answer] = answerSchema.parse(JSON.parse(line));
    waiting[number]?.(answer);
  });
  return {
    ask: (...words) =>
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
