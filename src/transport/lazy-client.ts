import type { HttpClient } from './client.js';

/** A client that is loaded when it is first needed: what carries most takes longest to load. */
export function lazyClient(load: () => Promise<HttpClient>): HttpClient {
  let loading: Promise<HttpClient> | undefined;
  let loaded: HttpClient | undefined;
  const client = () => {
    loading ??= load().then(client => {
      loaded = client;
      return client;
    });
    return loading;
  };
  return {
    send: request => loaded?.send(request) ?? client().then(client => client.send(request)),
    close: async () => (await loading)?.close(),
  };
}
