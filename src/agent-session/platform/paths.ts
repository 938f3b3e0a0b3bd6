/** The path below which the API is. */
const API = '/api/v2';

/**
 * Compiles the templates of routes below the API, such as `/sessions/{id}/events/{index}/feedback`. The returned function finds the
 * template of a path, null if there is none. The first one that matches counts: `/sessions/quota` must come before `/sessions/{id}`.
 */
export function compileTemplates(templates: Iterable<string>): (path: string) => string | null {
  const compiled = Array.from(new Set(templates), template => ({ template, pattern: patternOf(template) }));
  return path => compiled.find(({ pattern }) => pattern.test(path))?.template ?? null;
}

function patternOf(template: string): RegExp {
  const source = template.replace('{id}', '[^/]+').replace('{index}', '-?\\d+');
  return new RegExp(`^${API}${source}$`);
}

/** Whether a path belongs to the API, with or without a route. */
export function isApiPath(path: string): boolean {
  return path === API || path.startsWith(`${API}/`);
}

const WITH_ID = new RegExp(`^${API}/(?<collection>[^/]+)/(?<id>[^/]+)(?:/.+)?$`);

/** The id of the session, or of the webhook, in a path, with or without a route; null without one. */
export function idIn(path: string, collection: 'sessions' | 'webhooks'): string | null {
  const { groups } = WITH_ID.exec(path) ?? {};
  if (groups?.['collection'] !== collection) return null;
  try {
    return decodeURIComponent(groups['id'] ?? '');
  } catch {
    return null; // invalid percent-encoding
  }
}
