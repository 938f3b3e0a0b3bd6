import type { Exchange } from '../../../exchange/exchange.js';
import type { LoadedToolset } from '../../../exchange/history.js';
import type { Looking } from '../looking.js';
import type { World } from '../world.js';

/** The server that a call was made by, as it is named. */
export type ServerName = (exchange: Exchange) => string;

/** Null where one server alone was loaded: every call is made by that. */
export function serverNames({ volume, book }: Looking, { servers, serverOf }: World): ServerName | null {
  const { toolsets } = book.history;
  const isOne = toolsets.every(
    ({ base, endpoint }) => base === toolsets[0]?.base && endpoint === toolsets[0]?.endpoint,
  );
  if (isOne) return null;
  return ({ key, endpoint }) => {
    const id = volume.isLive ? serverOf(key) : null;
    const about = servers.find(server => server.id === id)?.about;
    return briefly(about ?? baseOf(endpoint, toolsets));
  };
}

/** Of one that is not open, where its toolset was loaded. */
function baseOf(endpoint: string, toolsets: readonly LoadedToolset[]): string {
  return toolsets.findLast(each => each.endpoint === endpoint)?.base ?? endpoint;
}

/** Most addresses begin alike. */
function briefly(name: string): string {
  return name.replace(/^http:\/\//, '');
}
