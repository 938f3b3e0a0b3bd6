import { History } from '../../src/events/history.js';
import { createLog, type Log } from '../../src/events/log.js';
import type { HttpClient } from '../../src/http/client.js';
import { createNodeClient } from '../../src/http/node-client.js';
import { Wire } from '../../src/runtime/wire.js';
import { createRunnableClock } from '../../src/system/clock.js';

export interface Wires extends AsyncDisposable {
  readonly log: Log;
  readonly history: History;
  /** Returns a wire to a server, with a real client by default. */
  wireTo(url?: string, headers?: Readonly<Record<string, string>>, client?: HttpClient): Wire;
}

/** A log, and a history of its events. */
export function openWires(): Wires {
  const clock = createRunnableClock();
  const log = createLog(clock.now, clock.runnable);
  const history = new History();
  log.subscribe(event => history.apply(event));
  const real = createNodeClient();
  return {
    log,
    history,
    wireTo: (url = 'http://unused.example', headers = {}, client = real) =>
      new Wire(log, client, url, headers),
    [Symbol.asyncDispose]: () => real.close(),
  };
}
