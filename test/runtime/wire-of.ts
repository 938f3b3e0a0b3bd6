import { History } from '../../src/events/history.js';
import { createLog } from '../../src/events/log.js';
import { createNodeClient } from '../../src/http/node-client.js';
import type { Wire } from '../../src/runtime/notices.js';

export interface Workbench extends AsyncDisposable {
  readonly wire: Wire;
  readonly history: History;
}

/** A wire with a real client, and a history of its messages. */
export function workbench(
  credentials: Wire['credentials'] = { origin: 'http://unused.example', headers: {} },
): Workbench {
  const log = createLog(() => performance.now());
  const history = new History();
  log.subscribe(event => history.apply(event));
  const client = createNodeClient();
  return { wire: { client, log, credentials }, history, [Symbol.asyncDispose]: () => client.close() };
}
