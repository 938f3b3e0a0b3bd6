import type { Tool } from '../../../protocol/toolset.js';
import type { Looking } from '../looking.js';
import type { Server, World } from '../world.js';

/** An operation, and who offers it. */
export interface Offer {
  readonly server: Server;
  readonly tool: Tool;
}

/** Every server that offers an operation of this name. */
export function offersOf({ servers }: Pick<World, 'servers'>, operation: string): readonly Offer[] {
  return servers.flatMap(server => {
    const { state } = server;
    const tool =
      state.kind === 'ready' ? state.toolset.tools.find(({ name }) => name === operation) : undefined;
    return tool ? [{ server, tool }] : [];
  });
}

/** Those that the selected call may have been made by: it is known of what this session did, else its endpoint tells. */
export function ownOffers(
  offers: readonly Offer[],
  { volume, exchange }: Looking,
  { serverOf }: World,
): readonly Offer[] {
  if (!exchange) return [];
  const id = volume.isLive ? serverOf(exchange.key) : null;
  return offers.filter(({ server }) =>
    volume.isLive ? server.id === id : endpointOf(server) === exchange.endpoint,
  );
}

function endpointOf({ state }: Server): string | null {
  return state.kind === 'ready' ? state.toolset.endpoint : null;
}
