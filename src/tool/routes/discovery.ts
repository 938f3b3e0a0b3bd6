import { Content } from '../../exchange/content.js';
import type { Log } from '../../exchange/log.js';
import type { Answer, Route } from '../../transport/server.js';
import type { ToolsetFields } from '../answers/operations.js';
import { baseFor, ServedRequest } from '../intake/served-request.js';
import { get, jsonAnswer } from './route.js';

export const INVOKE_PATH = '/invoke';

/**
 * TOOL-DISCOVER. The endpoint is named as whoever asks reaches us: a container's name, where it came by that. Some ask every second, to
 * see whether we are there: the same document is the same content, so that the log need not keep it anew.
 */
export function discoveryRoute(log: Log, toolset: () => ToolsetFields): Route {
  let content = new Content(Buffer.of());
  return get('/.well-known/rap-toolset', (incoming): Answer => {
    const request = new ServedRequest(log, incoming, { purpose: 'discovery', about: {} });
    const answer = jsonAnswer({ ...toolset(), endpoint: baseFor(incoming) + INVOKE_PATH });
    const bytes = Buffer.from(answer.body);
    if (!bytes.equals(content.bytes)) content = new Content(bytes);
    return request.answerWith(content, answer);
  });
}
