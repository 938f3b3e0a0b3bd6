import type { Log } from '../exchange/log.js';
import type { Clock } from '../system/clock.js';
import type { HttpClient } from '../transport/client.js';
import type { Handovers } from './handovers.js';
import type { Lanes } from './lanes.js';

/** What messages are passed on with. */
export interface Desk {
  readonly log: Log;
  readonly client: HttpClient;
  readonly clock: Clock;
  readonly lanes: Lanes;
  readonly handovers: Handovers;
}
