import { execFileSync } from 'node:child_process';

/** Where Go keeps what it has compiled; null without Go. */
export const GOCACHE = goCache();

function goCache(): string | null {
  try {
    return execFileSync('go', ['env', 'GOCACHE'], { encoding: 'utf8' }).trim();
  } catch {
    return null;
  }
}
