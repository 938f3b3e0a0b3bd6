import type { Content } from '../../exchange/content.js';
import { readUrl } from '../../text/url.js';
import type { Incoming, Reply, Route } from '../../transport/server.js';
import { Arrival, contentOf } from '../arrival.js';
import { LONGEST_URL, nameOf } from '../calls.js';
import { failed, passOn } from '../pass-on.js';
import { fieldsOf, stringIn, withString } from '../rewrite.js';
import { baseFor, type Office } from './office.js';

export const INVOKE_PATH = '/invoke';

/** Invocations go on with a callback URL of ours, and are the same otherwise, whatever they are. */
export function invocationRoute(office: Office): Route {
  return {
    name: 'invocation',
    method: 'POST',
    accepts: 'anything',
    serves: path => path === INVOKE_PATH,
    handle: incoming => receive(office, incoming),
  };
}

async function receive(office: Office, incoming: Incoming): Promise<Reply> {
  const { desk, tool, keys } = office;
  const body = contentOf(incoming);
  const { id, group_id } = fieldsOf(body);
  const thread = nameOf(group_id);
  const key = keys.keyFor(group_id, id);
  const arrival = new Arrival(desk, incoming, { purpose: 'invocation', calls: [key], thread }, body);
  const why = objectionTo(office, body);
  if (why !== null) return refuse(office, arrival, why);
  const endpoint = await endpointFor(office, arrival);
  if (endpoint === null) return arrival.answer({ status: 502, body: NO_ENDPOINT });
  if (typeof endpoint !== 'string') return endpoint.failure;
  const onward = redirected(office, body, { key, thread, runtimeBase: baseFor(incoming) });
  return passOn(desk, arrival, { url: endpoint, body: onward, origin: tool.origin });
}

const NO_ENDPOINT = "The tool's discovery document names no endpoint.\n";

/** The callback URL of an invocation, if that is one that could be called at all. */
function callbackUrlIn(body: Content | undefined): string | null {
  const url = stringIn(body, 'callback_url');
  return url !== undefined && /^https?:$/.test(readUrl(url)?.protocol ?? '') ? url : null;
}

/** We would have to remember it, for as many calls as there are, and to post there (threats, row 9). */
function objectionTo({ allows }: Office, body: Content | undefined): string | null {
  const url = callbackUrlIn(body);
  if (url === null) return null;
  return url.length > LONGEST_URL ? `the callback URL is longer than ${LONGEST_URL} characters` : allows(url);
}

/** A call whose callbacks could never go on is better not made. */
function refuse({ desk }: Office, arrival: Arrival, why: string): Reply {
  const { calls, thread } = arrival.matter;
  desk.log.emit({ kind: 'warned', message: why, calls, thread });
  return arrival.answer({ status: 403, body: 'The recorder may not post to this callback_url.\n' });
}

/** @returns where the tool takes invocations; null where it does not say; how it failed to. */
async function endpointFor({ tool }: Office, arrival: Arrival): Promise<string | null | { failure: Reply }> {
  try {
    return await tool.endpoint();
  } catch (error) {
    return { failure: failed(arrival, error) };
  }
}

interface Caller {
  readonly key: string;
  readonly thread: string | undefined;
  readonly runtimeBase: string;
}

/** With a callback URL of ours, which stands for the one there was; what has none goes on as it came. */
function redirected({ callbacks, callbackBase }: Office, body: Content | undefined, caller: Caller) {
  const callbackUrl = callbackUrlIn(body);
  if (!body || callbackUrl === null) return body;
  const { path } = callbacks.issue({ ...caller, callbackUrl });
  return withString(body, 'callback_url', callbackBase() + path);
}
