import { Content } from '../../exchange/content.js';
import type { Log } from '../../exchange/log.js';
import type { Answer, Route } from '../../transport/server.js';
import type { ToolsetFields } from '../answers/operations.js';
import { baseFor, ServedRequest } from '../intake/served-request.js';
import { get, jsonAnswer } from './route.js';

export const INVOKE_PATH = '/invoke';

/** TOOL-DISCOVER. The endpoint is named as whoever asks reaches us: a container's name, where it came by that. */
export function discoveryRoute(log: Log, toolset: () => ToolsetFields): Route {
  return get('/.well-known/rap-toolset', (incoming): Answer => {
    const request = new ServedRequest(log, incoming, { purpose: 'discovery', about: {} });
    const document = { ...toolset(), endpoint: baseFor(incoming) + INVOKE_PATH };
    return request.answerWith(Content.ofJson(document), jsonAnswer(document));
  });
}
