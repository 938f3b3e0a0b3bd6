import type { Body } from '../events/events.js';
import { readUrl } from '../util/url.js';
import { valueAt } from '../util/values.js';

/** A top-level member of a message; undefined if the message is not a JSON object. */
export function memberOf(body: Body | undefined, name: string): unknown {
  return valueAt(body?.json, 'value', name);
}

export function stringIn(body: Body | undefined, name: string): string | undefined {
  const value = memberOf(body, name);
  return typeof value === 'string' ? value : undefined;
}

/** A URL in a message; null if it cannot be called. */
export function httpUrlIn(body: Body | undefined, name: string): string | null {
  const url = stringIn(body, name);
  return url !== undefined && /^https?:$/.test(readUrl(url)?.protocol ?? '') ? url : null;
}
