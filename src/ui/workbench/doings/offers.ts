import type { Tool } from '../../../protocol/toolset.js';
import type { Server, World } from '../world.js';

/** An operation, and who offers it. */
export interface Offer {
  readonly server: Server;
  readonly tool: Tool;
}

/** Every server that offers an operation of this name. */
export function offersOf({ servers }: World, operation: string): readonly Offer[] {
  return servers.flatMap(server => {
    const { state } = server;
    const tool =
      state.kind === 'ready' ? state.toolset.tools.find(({ name }) => name === operation) : undefined;
    return tool ? [{ server, tool }] : [];
  });
}

/** The one whose calls go there. */
export function offerAt(offers: readonly Offer[], endpoint: string): Offer | undefined {
  return offers.find(
    ({ server: { state } }) => state.kind === 'ready' && state.toolset.endpoint === endpoint,
  );
}
