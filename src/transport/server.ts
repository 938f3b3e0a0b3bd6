import { createServer, type Server } from 'node:http';
import { isLoopback } from './addresses.js';
import { attend } from './attendant.js';
import { advertisedHost, bindAddress, listen } from './bind.js';
import type { Door } from './guard.js';
import { hostList } from './hosts.js';
import { DEFAULT_LIMITS, parserOptions, type ServerLimits } from './limits.js';
import type { Refusal } from './refusal.js';
import type { Route } from './route.js';

export { isWildcard } from './bind.js';
export type { ServerLimits } from './limits.js';
export type { Refusal } from './refusal.js';
export type { Answer, Head, Incoming, Reply, Route } from './route.js';

const SWEEP_MS = 10;

export interface ServerOptions {
  /** 127.0.0.1 unless told. A wildcard is bound without a word: the caller warns, see {@link isWildcard}. */
  readonly host?: string;
  /** Any free one unless told. */
  readonly port?: number;
  /** Names a request may use in Host besides the loopback's: `name` with any port, `name:port` with that one. */
  readonly allowedHosts?: readonly string[];
  readonly routes: readonly Route[];
  /** Bytes. */
  readonly maxBody: number;
  /** Tells whoever is refused why, in words or as `{"detail":…}`; a server of secret paths does not (threats, row 1). */
  readonly explains?: boolean | 'json';
  readonly limits?: Partial<ServerLimits>;
  readonly onRefused?: (refusal: Refusal) => void;
}

export interface RunningServer extends AsyncDisposable {
  readonly port: number;
  /** `http://127.0.0.1:port`, or the address it was told to bind; never `localhost` (threats, row 6). */
  readonly url: string;
  /** Stops listening, ends idle connections, then cuts off the rest. */
  close(): Promise<void>;
}

/**
 * Serves routes behind one guard (threats, rows 2 to 6, 14 to 17 and 28). Whatever comes in, the next request is served.
 * @throws ProtocolCliError `port-in-use`; `usage` for an address or an allowed host that is none.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const address = bindAddress(options.host ?? '127.0.0.1');
  const own = advertisedHost(address);
  const allowsHost = hostList(own, options.allowedHosts ?? []);
  const server = createServer(parserOptions(limits));
  server.maxHeadersCount = 0; // Node drops headers beyond a count, and an Origin among them; their size is bounded
  const port = await listen(server, address, options.port ?? 0);
  const isAllowed: Door['allowsHost'] = (host, peer) => allowsHost(host, port, isLoopback(peer));
  attend(server, { ...options, allowsHost: isAllowed }, limits);
  const close = closer(server, limits.closeMs);
  return { port, url: `http://${own}:${port}`, close, [Symbol.asyncDispose]: close };
}

function closer(server: Server, graceMs: number): () => Promise<void> {
  let closed: Promise<void> | undefined;
  return () => {
    closed ??= stop(server, graceMs);
    return closed;
  };
}

function stop(server: Server, graceMs: number): Promise<void> {
  return new Promise(resolve => {
    const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS); // what is answered meanwhile falls idle
    const cutOff = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close(() => {
      clearInterval(sweep);
      clearTimeout(cutOff);
      resolve();
    });
  });
}
