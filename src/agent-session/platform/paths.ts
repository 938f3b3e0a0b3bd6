import type { Answer, Route } from '../../http/route.js';
import type { ApiRequest } from './api-request.js';

const API_PATH = /^\/api\/v2\/(?<kind>sessions|webhooks)(?:\/(?<id>[^/]+)(?:\/(?<below>.+))?)?$/;

/** Paths that stand where others have an id. */
const FIXED: ReadonlySet<string> = new Set(['/sessions/quota', '/webhooks/events']);

export const NOT_FOUND = 'Session not found.';

const NOT_SERVED = 'This path is not part of this mock.';

/** The id of the session, or of the webhook, in a path; empty without one. */
export function idIn(path: string, wanted: 'sessions' | 'webhooks'): string {
  const { kind, id = '' } = API_PATH.exec(path)?.groups ?? {};
  try {
    return kind === wanted ? decodeURIComponent(id) : '';
  } catch {
    return ''; // invalid percent-encoding
  }
}

/** Answers a path that no other route serves: 404, or 405 with the allowed methods. */
export function notAllowed(request: ApiRequest, routes: readonly Route[]): Answer {
  const { path } = request.incoming;
  const here = routes.filter(route => route.serves(path));
  if (here.length === 0) return request.refuse(404, NOT_SERVED);
  if (isOfSession(templateOf(path)) && !request.session) return request.refuse(404, NOT_FOUND);
  const allow = [...new Set(here.map(({ method }) => method))].join(', ');
  return request.refuse(405, 'Method Not Allowed', { headers: { Allow: allow } });
}

/** Whether a template is that of one session, or of something below it. */
export function isOfSession(template: string | null): boolean {
  return template?.startsWith('/sessions/{id}') ?? false;
}

/** A path below `/api/v2`, with `{id}` for the id. */
export function templateOf(path: string): string | null {
  const { groups } = API_PATH.exec(path) ?? {};
  if (!groups) return null;
  const { kind, id, below } = groups;
  const whole = path.slice('/api/v2'.length);
  if (FIXED.has(whole)) return whole;
  const rest = below?.replace(/^events\/-?\d+\//, 'events/{index}/');
  return `/${kind}${id === undefined ? '' : '/{id}'}${rest === undefined ? '' : `/${rest}`}`;
}
