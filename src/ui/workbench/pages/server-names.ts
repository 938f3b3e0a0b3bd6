import type { Exchange } from '../../../exchange/exchange.js';
import type { LoadedToolset } from '../../../exchange/history.js';
import type { Looking } from '../looking.js';
import type { World } from '../world.js';

/** The server that a call was made by, as it is named. */
export type ServerName = (exchange: Exchange) => string;

/** Null where there was one server alone, as a person knows it: every call is made by that. */
export function serverNames({ volume, book }: Looking, world: World): ServerName | null {
  const { servers, serverOf } = world;
  const { toolsets } = book.history;
  if (volume.isLive ? world.names.size < 2 : isOne(toolsets)) return null;
  return ({ key, endpoint }) => {
    const id = volume.isLive ? serverOf(key) : null;
    const about = servers.find(server => server.id === id)?.about;
    return briefly(about ?? baseOf(endpoint, toolsets));
  };
}

/** Where the events alone are known, an address is a server. */
function isOne(toolsets: readonly LoadedToolset[]): boolean {
  const [first] = toolsets;
  return toolsets.every(({ base, endpoint }) => base === first?.base && endpoint === first?.endpoint);
}

/** Of one that is not open, where its toolset was loaded. */
function baseOf(endpoint: string, toolsets: readonly LoadedToolset[]): string {
  return toolsets.findLast(each => each.endpoint === endpoint)?.base ?? endpoint;
}

/** Most addresses begin alike. */
function briefly(name: string): string {
  return name.replace(/^http:\/\//, '');
}
