import type { Answer, Route } from '../../http/route.js';
import type { ApiRequest } from './api-request.js';

const SESSION_PATH = /^\/api\/v2\/sessions(?:\/(?<id>[^/]+)(?:\/(?<below>.+))?)?$/;

export const NOT_FOUND = 'Session not found.';

const NOT_SERVED = 'This path is not part of this mock.';

/** The id of the session in a path; empty without one. */
export function sessionIn(path: string): string {
  try {
    return decodeURIComponent(SESSION_PATH.exec(path)?.groups?.['id'] ?? '');
  } catch {
    return ''; // invalid percent-encoding
  }
}

/** Answers a path that no other route serves: 404, or 405 with the allowed methods. */
export function notAllowed(request: ApiRequest, routes: readonly Route[]): Answer {
  const { path } = request.incoming;
  const here = routes.filter(route => route.serves(path));
  if (here.length === 0) return request.refuse(404, NOT_SERVED);
  if (templateOf(path) !== '' && !request.session) return request.refuse(404, NOT_FOUND);
  const allow = [...new Set(here.map(({ method }) => method))].join(', ');
  return request.refuse(405, 'Method Not Allowed', { headers: { Allow: allow } });
}

/** A path below `/api/v2/sessions`, with `{id}` for the id. */
export function templateOf(path: string): string | null {
  const { groups } = SESSION_PATH.exec(path) ?? {};
  if (!groups) return null;
  const { id, below } = groups;
  if (id === 'quota' && below === undefined) return '/quota';
  const rest = below?.replace(/^events\/-?\d+\//, 'events/{index}/');
  return `${id === undefined ? '' : '/{id}'}${rest === undefined ? '' : `/${rest}`}`;
}
