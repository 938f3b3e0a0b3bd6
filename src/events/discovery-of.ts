import { discoveryUrl } from '../protocol/toolset.js';
import type { Event, RequestEvent } from './events.js';

/** A call, as far as it tells which toolset it is of. */
interface Called {
  readonly endpoint: string;
  /** Of its first event. */
  readonly seq: number;
}

/**
 * The discovery events before a call, oldest first: those of the base URL at which its toolset was loaded, since an origin may have
 * several toolsets; all of them if no `loaded` event names the base, or for a recorder, which has one tool.
 * @param events those that belong to no call are enough
 */
export function discoveryOf(events: readonly Event[], { endpoint, seq }: Called): readonly Event[] {
  const before = events.filter(event => event.seq < seq);
  const loaded = before.filter(event => event.kind === 'loaded' && event.endpoint === endpoint);
  const urls = new Set(loaded.flatMap(urlsOf));
  const isAsked = ({ purpose, url, hop }: RequestEvent) =>
    purpose === 'discovery' && (urls.size === 0 || urls.has(url) || hop === 'runtime-side');
  const legs = new Set(
    before.flatMap(event => (event.kind === 'request' && isAsked(event) ? [event.leg] : [])),
  );
  return before.filter(event => loaded.includes(event) || ('leg' in event && legs.has(event.leg ?? '')));
}

function urlsOf(event: Event): string[] {
  return event.kind === 'loaded' && event.base !== null ? [discoveryUrl(event.base)] : [];
}
