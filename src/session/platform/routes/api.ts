import type { Incoming, Reply, Route } from '../../../transport/server.js';
import { NOT_FOUND } from '../judge/judge.js';
import type { Session } from '../state/session.js';
import { API, type Api, type Endpoint, idIn, ONE, pathOf, SESSIONS } from './endpoint.js';
import { firstAnswers } from './first.js';
import { Served } from './served.js';

/** A request that showed the key, on its way to an answer. */
export interface Asked {
  readonly incoming: Incoming;
  readonly api: Api;
  /** To be called once, before the answer; `about` says what is known of its calls by then. */
  readonly serve: (about?: { readonly thread?: string; readonly calls?: readonly string[] }) => Served;
}

/** `/api/v2/sessions`, for those who have the key. */
export function collectionRoute(
  api: Api,
  endpoint: Endpoint,
  handle: (asked: Asked) => Reply | Promise<Reply>,
): Route {
  return guarded(api, endpoint, path => path === SESSIONS, handle);
}

interface Below extends Endpoint {
  /** What comes after the id; nothing unless told. */
  readonly name?: string;
}

/** `/api/v2/sessions/{id}` and what is below it; 404 where there is no such session. */
export function sessionRoute(
  api: Api,
  endpoint: Below,
  handle: (asked: Asked & { readonly session: Session }) => Reply | Promise<Reply>,
): Route {
  return idRoute(api, endpoint, ({ session, ...asked }) =>
    session ? handle({ ...asked, session }) : asked.serve().json(404, { detail: NOT_FOUND }),
  );
}

/** As {@link sessionRoute}, for whoever judges by themselves whether there is such a session. */
export function idRoute(
  api: Api,
  { name, ...endpoint }: Below,
  handle: (asked: Asked & { readonly session: Session | undefined }) => Reply | Promise<Reply>,
): Route {
  const serves = (path: string) => {
    const [found, , below] = ONE.exec(path) ?? [];
    return found !== undefined && below === name;
  };
  return guarded(api, { ...endpoint, ofSession: true }, serves, asked =>
    handle({ ...asked, session: api.store.get(idIn(asked.incoming)) }),
  );
}

/** Any path of the API: who has no key learns nothing but that (401 before 404), by whichever method. */
export function elsewhereRoute(api: Api, routes: readonly Route[]): Route {
  const serves = (path: string) => path === API || path.startsWith(`${API}/`);
  return guarded(api, { method: 'any', purpose: 'session' }, serves, ({ incoming, serve }) => {
    const here = routes.filter(route => route.serves(pathOf(incoming)));
    if (here.length === 0) return serve().json(404, { detail: 'Not Found' });
    if (ONE.test(pathOf(incoming)) && !api.store.get(idIn(incoming)))
      return serve().json(404, { detail: NOT_FOUND });
    const methods = [...new Set(here.map(({ method }) => method))].join(', ');
    return serve().json(405, { detail: 'Method Not Allowed' }, { Allow: methods });
  });
}

function guarded(
  api: Api,
  endpoint: Endpoint,
  serves: Route['serves'],
  handle: (asked: Asked) => Reply | Promise<Reply>,
): Route {
  const { method, purpose, accepts = 'nothing' } = endpoint;
  return {
    name: `${method} ${purpose}`,
    method,
    accepts,
    serves,
    first: firstAnswers(api, endpoint),
    handle: incoming => {
      const thread = api.store.get(idIn(incoming))?.id;
      const serve: Asked['serve'] = about => new Served(api.log, incoming, { purpose, thread, ...about });
      return handle({ incoming, api, serve });
    },
  };
}
