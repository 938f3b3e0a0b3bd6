import type { HttpClient } from '../../transport/client.js';
import { lazyClient } from '../../transport/lazy-client.js';
import { createNodeClient } from '../../transport/node-client.js';
import type { InvokeOptions } from './plan.js';

/** One call is soon over: what is made for throughput takes longer to load. */
export function clientFor({ repeat }: Pick<InvokeOptions, 'repeat'>): HttpClient {
  if (repeat === undefined) return createNodeClient();
  return lazyClient(async () => (await import('../../transport/agent-client.js')).createAgentClient());
}
