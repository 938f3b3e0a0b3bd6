import type { Route } from '../../transport/server.js';

type Handler = Route['handle'];

/** A route at exactly one path. */
export function get(path: string, handle: Handler): Route {
  return { name: path, method: 'GET', accepts: 'nothing', serves: asked => asked === path, handle };
}

/** As {@link get}, for a JSON body. */
export function post(path: string, handle: Handler): Route {
  return { name: path, method: 'POST', accepts: 'json', serves: asked => asked === path, handle };
}

export function jsonAnswer(value: unknown) {
  return { status: 200, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(value) };
}
