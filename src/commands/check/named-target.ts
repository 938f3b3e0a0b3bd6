import type { ServerTarget } from '../target.js';
import { programIn } from './program-in.js';

export const QUERY_UNSENT =
  'the query of the URL is not sent, and in no report: a base has none; credentials go in -H or --bearer';

/** What a report calls a target; nothing of it is secret (threats, row 25). */
export async function nameOf(target: ServerTarget): Promise<string> {
  if (target.kind === 'demo') return 'the bundled demo';
  return target.kind === 'command' ? programIn(target.command) : target.url.replace(/[?#].*$/s, '');
}

export function hasQuery(target: ServerTarget): boolean {
  return target.kind === 'url' && new URL(target.url).search !== '';
}

/** It may hold a key. */
export function secretsOfQuery(target: ServerTarget): string[] {
  return target.kind === 'url' ? [...new URL(target.url).searchParams.values()] : [];
}
