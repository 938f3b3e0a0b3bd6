import type { Line } from '../line.js';
import { quote, say } from '../spans.js';

/** What a message says of the call and the thread that it belongs to. */
export interface CallIds {
  readonly id?: string | undefined;
  readonly call_id?: string | null | undefined;
  readonly group_id?: string | undefined;
}

/** A heading: what it is, of which call, in which thread. */
export function callHeading(what: string, { id, call_id, group_id }: CallIds): Line {
  return [
    ...quote(what, 'title'),
    ...(id === undefined ? [] : [say(' of call ', 'dim'), ...quote(id)]),
    ...(call_id ? [say(' (call_id ', 'dim'), ...quote(call_id), say(')', 'dim')] : []),
    ...(group_id === undefined ? [] : [say(' in thread ', 'dim'), ...quote(group_id)]),
  ];
}
