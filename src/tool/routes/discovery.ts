import type { Route } from '../../transport/server.js';
import type { ToolsetFields } from '../answers/operations.js';
import { baseFor } from '../intake/served-request.js';
import { get, jsonAnswer } from './route.js';

export const INVOKE_PATH = '/invoke';

/** TOOL-DISCOVER. The endpoint is named as whoever asks reaches us: a container's name, where it came by that. */
export function discoveryRoute(toolset: () => ToolsetFields): Route {
  return get('/.well-known/rap-toolset', incoming =>
    jsonAnswer({ ...toolset(), endpoint: baseFor(incoming) + INVOKE_PATH }),
  );
}
