/** Whether a path of a request has a template. */
export type TemplateCheck = (path: string, template: string) => boolean;

/**
 * Compiles the templates of routes, such as `/sessions/{id}/events/{index}/feedback` below `/api/v2`. A path has the first template that
 * it matches: `/sessions/quota` must come before `/sessions/{id}`.
 */
export function compilePaths(templates: Iterable<string>): TemplateCheck {
  const matchers = new Map<string, (path: string) => boolean>();
  for (const template of new Set(templates)) {
    const pattern = patternOf(template);
    const earlier = [...matchers.values()];
    matchers.set(template, path => pattern.test(path) && !earlier.some(matches => matches(path)));
  }
  return (path, template) => matchers.get(template)?.(path) ?? false;
}

function patternOf(template: string): RegExp {
  const source = template.replace('{id}', '[^/]+').replace('{index}', '-?\\d+');
  return new RegExp(`^/api/v2${source}$`);
}

/** Whether a path belongs to the API, with or without a route. */
export function isApiPath(path: string): boolean {
  return /^\/api\/v2(?:\/|$)/.test(path);
}

const WITH_ID = /^\/api\/v2\/(?<collection>[^/]+)\/(?<id>[^/]+)(?:\/.+)?$/;

/** The id of the session, or of the webhook, in a path; null without one. */
export function idIn(path: string, collection: 'sessions' | 'webhooks'): string | null {
  const { groups } = WITH_ID.exec(path) ?? {};
  if (groups?.['collection'] !== collection) return null;
  try {
    return decodeURIComponent(groups['id'] ?? '');
  } catch {
    return null; // invalid percent-encoding
  }
}
