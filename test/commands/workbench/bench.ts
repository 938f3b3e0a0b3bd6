import { Writable } from 'node:stream';
import type { CallDefaults } from '../../../src/commands/workbench/calls.js';
import { createEngine, type Engine } from '../../../src/commands/workbench/engine.js';
import type { Exchange } from '../../../src/events/exchange.js';
import { systemClock } from '../../../src/system/clock.js';
import type { Server } from '../../../src/tui/workbench/model.js';
import { eventually } from '../../e2e/support/eventually.js';

const DEFAULTS: CallDefaults = {
  timeoutMs: 10_000,
  retries: 2,
  lenientAck: false,
  listener: { host: '127.0.0.1', port: 0, allowedHosts: [], maxBody: 64 * 1024 * 1024 },
  consent: { policy: null, yes: false },
  groupId: null,
  userId: null,
  ancestors: [],
};

export interface Bench extends Engine, AsyncDisposable {
  /** What was written to the terminal. */
  told(): string;
  /** Resolves once the server is in this state. */
  stands<K extends Server['state']['kind']>(
    id: string,
    kind: K,
  ): Promise<Extract<Server['state'], { kind: K }>>;
  /** Runs an operation; gives the key of the call. */
  call(server: string, operation: string, args?: Record<string, unknown>): Promise<string>;
  /** Resolves with the exchange once it is as wanted; settled, by default. */
  until(key: string, isWanted?: (exchange: Exchange) => boolean): Promise<Exchange>;
  readonly quits: readonly string[];
}

/** A workbench without a screen. */
export function startBench({
  cwd = '/nonexistent',
  home = cwd,
  headers = {},
  ...defaults
}: Partial<CallDefaults> & {
  readonly cwd?: string;
  readonly home?: string;
  readonly headers?: Record<string, string>;
} = {}): Bench {
  let told = '';
  const stdout = new Writable({
    write(chunk, _, done) {
      told += String(chunk);
      done();
    },
  }) as unknown as NodeJS.WriteStream;
  const quits: string[] = [];
  const engine = createEngine({
    terminal: { cwd, home, stdout },
    clock: systemClock,
    defaults: { ...DEFAULTS, ...defaults },
    headers,
    onQuit: () => void quits.push('quit'),
  });
  const { world, controls } = engine;
  const exchangeOf = (key: string) => world.volumes[0]?.book.history.exchanges.get(key);
  return {
    ...engine,
    quits,
    told: () => told,
    stands(id, kind) {
      type Wanted = Extract<Server['state'], { kind: typeof kind }>;
      const isWanted = (state: Server['state'] | undefined): state is Wanted => state?.kind === kind;
      return eventually(`${id} is ${kind}: ${JSON.stringify(world.servers)}`, () => {
        const state = world.servers.find(server => server.id === id)?.state;
        return isWanted(state) && state;
      });
    },
    async call(server, operation, args = {}) {
      const draft = { server, operation, arguments: args };
      const sent = await controls.run(draft, { validates: true });
      if (sent.kind !== 'sent') throw new Error(JSON.stringify(sent));
      return sent.key;
    },
    until: (key, isWanted = ({ settled }) => settled !== null) =>
      eventually(`the call ${key}`, () => {
        const exchange = exchangeOf(key);
        return exchange && isWanted(exchange) && exchange;
      }),
    [Symbol.asyncDispose]: () => engine.close(),
  };
}
