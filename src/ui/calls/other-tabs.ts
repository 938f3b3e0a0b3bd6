import { weightOf } from '../../exchange/event-weight.js';
import type { Event } from '../../exchange/events.js';

/** A tab beside the one that is open. */
export interface OtherTab<Tab extends string> {
  readonly tab: Tab;
  readonly title: string;
  /** That shows it. */
  readonly key: string;
}

/** Bytes of a call's events: the sheets of a heavier one are not made for a search alone. */
const MOST = 2 * 1024 * 1024;

/** The tabs where something may be found that is not in this one; problems are only judged for whoever looks at them. */
export function otherTabs<Tab extends string>(
  tabs: readonly Tab[],
  titles: readonly string[],
  here: Tab,
  events: readonly Event[],
): readonly OtherTab<Tab>[] {
  if (isHeavy(events)) return [];
  return tabs.flatMap((tab, index) =>
    tab === here || tab === 'problems' ? [] : [{ tab, title: titles[index] ?? tab, key: `${index + 1}` }],
  );
}

function isHeavy(events: readonly Event[]): boolean {
  let bytes = 0;
  return events.some(event => {
    bytes += weightOf(event);
    return bytes > MOST;
  });
}
