import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** How a process ended; both null if it was never started. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** @throws the error of a program that could not be started */
export async function exitOf(child: ChildProcess): Promise<Exit> {
  const [code, signal] = await once(child, 'exit');
  return { code, signal };
}

export function endText({ code, signal }: Exit): string {
  return `ended with ${signal ?? `status ${code}`}`;
}
