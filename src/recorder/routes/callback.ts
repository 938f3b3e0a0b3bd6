import type { Content } from '../../exchange/content.js';
import type { Incoming, Reply, Route } from '../../transport/server.js';
import { Arrival, contentOf } from '../arrival.js';
import { LONGEST_URL, type RecordedCall } from '../calls.js';
import { passOn } from '../pass-on.js';
import { stringIn, withString } from '../rewrite.js';
import { type Office, pathOf } from './office.js';

export const CALLBACK_PREFIX = '/callback/';

/** Callbacks go on to where the runtime wanted them, whatever they say; only the address of a question is replaced by one of ours. */
export function callbackRoute(office: Office): Route {
  return {
    name: 'callback',
    method: 'POST',
    accepts: 'anything',
    serves: path => office.callbacks.resolve(path) !== undefined,
    handle: incoming => receive(office, incoming),
  };
}

async function receive(office: Office, incoming: Incoming): Promise<Reply> {
  const call = office.callbacks.resolve(pathOf(incoming.target));
  if (!call) return { status: 404 };
  const { key, thread, callbackUrl } = call;
  const body = contentOf(incoming);
  const arrival = new Arrival(office.desk, incoming, { purpose: 'callback', calls: [key], thread }, body);
  return passOn(office.desk, arrival, { url: callbackUrl, body: redirected(office, call, body) });
}

/** With an address of ours for the answer, where it is a question. */
function redirected(office: Office, call: RecordedCall, body: Content | undefined): Content | undefined {
  const responseUrl = stringIn(body, 'response_url');
  if (!body || responseUrl === undefined || stringIn(body, 'type') !== 'user_choice') return body;
  if (responseUrl.length > LONGEST_URL || !office.tool.takesAnswersAt(responseUrl))
    return tellLeft(office, call, body);
  const { path } = office.questions.issue({ call, responseUrl });
  return withString(body, 'response_url', call.runtimeBase + path);
}

/** The runtime may judge otherwise. */
function tellLeft({ desk }: Office, { key, thread }: RecordedCall, body: Content): Content {
  const message =
    'the response_url is too long, or on another machine than the tool: its answer is not recorded';
  desk.log.emit({ kind: 'warned', message, calls: [key], thread });
  return body;
}
