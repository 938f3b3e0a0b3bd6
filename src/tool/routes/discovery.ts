import { Content } from '../../exchange/content.js';
import type { Log } from '../../exchange/log.js';
import type { Answer, Route } from '../../transport/server.js';
import type { ToolsetFields } from '../answers/operations.js';
import { baseFor, ServedRequest } from '../intake/served-request.js';
import { get } from './route.js';

export const INVOKE_PATH = '/invoke';

/**
 * TOOL-DISCOVER. The endpoint is named as whoever asks reaches us: a container's name, where it came by that. Some ask every second, to
 * see whether we are there: the same document is the same content, so that the log need not keep it anew.
 */
export function discoveryRoute(log: Log, toolset: () => ToolsetFields): Route {
  let known: { readonly of: ToolsetFields; readonly endpoint: string; readonly content: Content } | null =
    null;
  return get('/.well-known/rap-toolset', (incoming): Answer => {
    const request = new ServedRequest(log, incoming, { purpose: 'discovery', about: {} });
    const of = toolset();
    const endpoint = baseFor(incoming) + INVOKE_PATH;
    if (known?.of !== of || known.endpoint !== endpoint)
      known = { of, endpoint, content: Content.ofJson({ ...of, endpoint }) };
    const { content } = known;
    return request.answerWith(content, {
      status: 200,
      headers: { 'Content-Type': 'application/json' },
      body: content.bytes,
    });
  });
}
