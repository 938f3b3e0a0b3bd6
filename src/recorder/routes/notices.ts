import type { RequestEvent } from '../../exchange/events.js';
import type { Incoming, Reply, Route } from '../../transport/server.js';
import { Arrival, contentOf } from '../arrival.js';
import type { Matter } from '../leg.js';
import { passOn } from '../pass-on.js';
import { stringIn } from '../rewrite.js';
import { type Office, pathOf } from './office.js';

/** What a runtime says to a server rather than to an operation, by its path (protocol, section 1). */
export const NOTICES: Readonly<Record<string, RequestEvent['purpose']>> = {
  '/cancel_tool_call': 'cancel',
  '/close_thread': 'close',
  '/migrate': 'migrate',
};

/** Notices go on to the tool's base, whether or not it knows them. */
export function noticeRoute(office: Office): Route {
  return {
    name: 'notice',
    method: 'POST',
    accepts: 'anything',
    serves: path => Object.hasOwn(NOTICES, path),
    handle: incoming => receive(office, incoming),
  };
}

async function receive(office: Office, incoming: Incoming): Promise<Reply> {
  const { desk, tool } = office;
  const body = contentOf(incoming);
  const arrival = new Arrival(desk, incoming, matterOf(office, incoming, body), body);
  return passOn(desk, arrival, { url: tool.base + incoming.target, body, origin: tool.origin });
}

function matterOf({ keys }: Office, { target }: Incoming, body: Arrival['body']): Matter {
  const purpose = NOTICES[pathOf(target)] ?? 'close';
  if (purpose === 'migrate') return { purpose, thread: stringIn(body, 'session_id') };
  const thread = stringIn(body, 'thread_id');
  const key = purpose === 'cancel' ? keys.find(thread, stringIn(body, 'tool_call_id')) : undefined;
  return { purpose, thread, calls: key === undefined ? undefined : [key] };
}
