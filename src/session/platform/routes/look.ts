import { isTerminal } from '../../../protocol/session/status.js';
import type { Answer, Route } from '../../../transport/server.js';
import { untilNews } from '../news-wait.js';
import { changesView, pageView, sessionView, statusView, summaryView } from '../views.js';
import { type Asked, collectionRoute, sessionRoute } from './api.js';
import type { Api } from './endpoint.js';
import { Query } from './query.js';

/** Everything that only looks. */
export function lookRoutes(api: Api): Route[] {
  const look = { method: 'GET', purpose: 'session' } as const;
  return [
    collectionRoute(api, look, asked =>
      page(asked, { size: 10, most: 100 }, newestFirst(api).map(summaryView)),
    ),
    sessionRoute(api, look, ({ serve, session }) => serve().json(200, sessionView(session))),
    sessionRoute(api, { ...look, name: 'status' }, ({ serve, session }) =>
      serve().json(200, statusView(session)),
    ),
    sessionRoute(api, { ...look, name: 'events' }, asked =>
      page(asked, { size: 50, most: 200 }, asked.session.events),
    ),
    changesRoute(api),
  ];
}

/** Longer than this nobody waits, whatever they ask for. */
const LONGEST_WAIT_S = 60;

/** The long poll: 200 as soon as there is something new, 204 where nothing comes in time (platforms). */
function changesRoute(api: Api): Route {
  return sessionRoute(
    api,
    { method: 'GET', purpose: 'changes', name: 'changes' },
    async ({ incoming, serve, session }) => {
      const served = serve();
      const query = new Query(incoming.target);
      const from = query.whole('from_index', 0);
      const limit = query.whole('limit', null, { min: 1 });
      const events = query.flag('include_events', true);
      const seconds = query.seconds('wait_for_seconds', LONGEST_WAIT_S);
      if (query.faults.length > 0) return served.json(422, { detail: query.faults });
      const now = () => api.store.get(session.id) ?? session;
      const isThere = () => now().events.length > from;
      const isNews = () => isThere() || isTerminal(now().phase);
      const { onGone } = incoming;
      const isWanted = await untilNews(api, { id: session.id, ms: seconds * 1_000, isThere: isNews, onGone });
      if (!isWanted) return served.gone();
      return isThere() ? served.json(200, changesView(now(), { from, limit, events })) : served.empty(204);
    },
  );
}

function newestFirst({ store }: Api) {
  return store.all.toReversed();
}

function page(
  { incoming, serve }: Asked,
  { size: preset, most }: { readonly size: number; readonly most: number },
  all: readonly unknown[],
): Answer {
  const query = new Query(incoming.target);
  const page = query.whole('page', 1, { min: 1 });
  const size = query.whole('size', preset, { min: 1, max: most });
  return query.faults.length > 0
    ? serve().json(422, { detail: query.faults })
    : serve().json(200, pageView(all, { page, size }));
}
