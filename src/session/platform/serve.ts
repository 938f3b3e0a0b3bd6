import { type Refusal, type RunningServer, startServer } from '../../transport/server.js';
import { DEFAULTS, type SessionPlatformOptions } from './options.js';
import { elsewhereRoute } from './routes/api.js';
import { createRoute } from './routes/create.js';
import { type Api, idIn, refuse } from './routes/endpoint.js';
import { lookRoutes } from './routes/look.js';
import { steerRoutes } from './routes/steer.js';
import { toolResultsRoute } from './routes/tool-results.js';

/** Opens the server of a platform. @throws ProtocolCliError `port-in-use`, `usage`. */
export function serve(
  api: Api,
  { host, port, allowHosts = [] }: SessionPlatformOptions,
): Promise<RunningServer> {
  const routes = [createRoute(api), ...lookRoutes(api), ...steerRoutes(api), toolResultsRoute(api)];
  return startServer({
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    allowedHosts: allowHosts,
    maxBody: DEFAULTS.maxBody,
    explains: 'json',
    routes: [...routes, elsewhereRoute(api, routes)],
    onRefused: refusal => tellRefused(api, refusal),
  });
}

/** Before any handler: a body too large, a foreign Host, a web page. Of results that is a finding too. */
function tellRefused(api: Api, { method = '', target = '', status, detail }: Refusal): void {
  const message = `a request was refused with ${status}, since ${detail}: ${method} ${target.split('?', 1)[0]}`;
  const session = api.store.get(idIn({ target }))?.id;
  api.log.emit({ kind: 'warned', message, ...(session !== undefined && { thread: session }) });
  if (/\/tool_results(?:\?|$)/.test(target))
    refuse(api, { session: session ?? null, status, reason: detail });
}
