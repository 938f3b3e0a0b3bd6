import type { Findings } from '../util/collections.js';
import type { Expectation, FixtureVerdict, UndeliveredCallback, UnmatchedCall } from './report.js';

/** What is wrong with the use of a fixture; null if it was used as expected. */
export function fixtureProblem(fixture: FixtureVerdict): string | null {
  const { calls, status, expected, refused } = fixture;
  if (status === 'used' || status === 'not-needed') return null;
  const subject = `fixture ${nameOf(fixture)}`;
  if (refused) return `${subject} only refused calls, as its faults say; none came again`;
  if (status === 'unused' && expected?.min === undefined) return `${subject} was not used`;
  const times = calls === 0 ? 'not called' : calls === 1 ? 'called once' : `called ${calls} times`;
  return `${subject} was ${times}, expected ${range(expected)}`;
}

/** `pay (tool.yaml:3, charge_card)` */
function nameOf({ id, place, answers, operation }: FixtureVerdict): string {
  const about = answers ?? (operation === id ? undefined : operation);
  const parts = [id === place ? undefined : place, about].filter(part => part !== undefined);
  return parts.length === 0 ? id : `${id} (${parts.join(', ')})`;
}

function range({ min, max }: Expectation = {}): string {
  if (min !== undefined && min === max) return `${min}`;
  const parts = [min === undefined ? '' : `at least ${min}`, max === undefined ? '' : `at most ${max}`];
  return parts.filter(Boolean).join(' and ');
}

export function unmatchedProblems({ count, examples }: Findings<UnmatchedCall>): string[] {
  const texts = examples.map(({ operation, id, group_id, reason, nearest }) => {
    const call = `${callText(operation, id)}${group_id === null ? '' : ` of ${group_id}`}`;
    const near = nearest ? `; nearest: ${nearest.fixture}: ${nearest.path} ${nearest.reason}` : '';
    return `unmatched call: ${call}: ${reason ?? `no fixture matches${near}`}`;
  });
  return [...texts, ...moreText('unmatched call', count - examples.length)];
}

/** Callbacks that differ only in their call are one line, with a count. */
export function undeliveredProblems({ count, examples }: Findings<UndeliveredCallback>): string[] {
  const groups = new Map<string, UndeliveredCallback[]>();
  for (const each of examples) {
    const { operation, type, why, url } = each;
    const key = JSON.stringify([
      operation,
      type,
      why,
      url !== null && URL.canParse(url) && new URL(url).origin,
    ]);
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  const texts = Array.from(groups.values(), ([first, ...others]) => {
    if (!first) return '';
    const { operation, id, url, type, why } = first;
    const what = type === undefined ? '' : `${type} for `;
    const text = `${what}${callText(operation, id)}${url === null ? '' : ` to ${url}`}: ${why}`;
    const more = others.length === 0 ? '' : ` (and ${others.length} more like it)`;
    return `undelivered callback: ${text}${more}`;
  });
  return [...texts, ...moreText('undelivered callback', count - examples.length)];
}

function callText(operation: string | null, id: string | null): string {
  return `${operation ?? 'a call without an operation'}${id === null ? '' : ` (${id})`}`;
}

/** How many findings have no text of their own. */
function moreText(what: string, more: number): string[] {
  return more > 0 ? [`${what}: and ${more} more`] : [];
}
