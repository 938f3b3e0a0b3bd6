import type * as z from 'zod/mini';
import type { SessionEvent } from '../../protocol/session.js';
import { stringOrJson, valueAt } from '../../util/values.js';
import type { ApiRequest } from './api-request.js';
import { readQuery } from './read-request.js';
import { type eventFilters, pageQuery, type sessionFilters } from './request-schemas.js';
import type { Session } from './session.js';
import { summaryView } from './session-views.js';

type SessionFilters = z.output<typeof sessionFilters>;

/** The sessions that a client asked for, newest first unless it wants another order. @param all oldest first */
export function selectSessions(all: Iterable<Session>, filters: SessionFilters): readonly Session[] {
  const found = [...all].filter(session => isSelected(session, filters));
  return filters.sort?.at(-1) === 'created_at' ? found : found.reverse();
}

function isSelected(session: Session, filters: SessionFilters): boolean {
  const { agent, created_at, finished_at } = summaryView(session);
  const { group_id: group, parent_session_id: parent, search = '' } = filters;
  return (
    (filters.status?.includes(session.status) ?? true) &&
    (filters.agent?.includes(String(agent)) ?? true) &&
    (group === undefined || valueAt(session.request, 'group_id') === group) &&
    (parent === undefined || valueAt(session.request, 'parent_session_id') === parent) &&
    filters.schedule_id === undefined && // the mock has no schedules
    searchableText(session).includes(search.toLowerCase()) &&
    isBetween(created_at, filters.created_after, filters.created_before) &&
    isBetween(finished_at, filters.finished_after, filters.finished_before)
  );
}

function searchableText({ firstMessages: [first], answer }: Session): string {
  return `${first?.message ?? ''}\n${stringOrJson(answer ?? '')}`.toLowerCase();
}

/** A session without this time is in no interval. */
function isBetween(time: string | null, after: string | undefined, before: string | undefined): boolean {
  if (after === undefined && before === undefined) return true;
  if (time === null) return false;
  const at = Date.parse(time);
  const isAfter = after === undefined || at > Date.parse(after);
  return isAfter && (before === undefined || at < Date.parse(before));
}

/** The events that a client asked for, oldest first unless it wants another order. */
export function selectEvents(
  events: readonly SessionEvent[],
  { type, sort }: z.output<typeof eventFilters>,
): readonly SessionEvent[] {
  const found = type === undefined ? events : events.filter(event => event.type === type);
  return sort?.at(-1) === '-timestamp' ? found.toReversed() : found;
}

/** Page sizes of a list: the default and the maximum. */
interface PageSizes {
  readonly size: number;
  readonly max: number;
}

/** The page of a list that a client asked for. @throws Refused */
export function pageOf<T>(
  all: readonly T[],
  { incoming, isLenient }: ApiRequest,
  sizes: PageSizes,
  view: (each: T) => unknown = each => each,
): object {
  const maxSize = isLenient ? Number.MAX_SAFE_INTEGER : sizes.max;
  const { page, size } = readQuery(incoming, pageQuery(sizes.size, maxSize));
  const shown = Math.min(size, sizes.max);
  const items = all.slice((page - 1) * shown, page * shown).map(view);
  return { items, page, total: all.length };
}
