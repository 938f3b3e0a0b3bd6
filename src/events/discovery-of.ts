import { discoveryUrl } from '../protocol/toolset.js';
import type { Event, RequestEvent } from './events.js';

/** A call, as far as it tells which toolset it is of. */
interface Called {
  readonly endpoint: string;
  /** Of its first event. */
  readonly seq: number;
}

/**
 * How the toolset by which a call was made had been discovered by then. It is known by the base at which it was loaded: an origin may
 * have several, under different paths. Where nobody says which it was, all that was asked; a recorder is asked for that of its one tool.
 * In the order in which it happened.
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

/** What a callback means for its exchange, and the status it is answered with. */
export type Verdict =
  /** The result of the pending call. */
  | { readonly kind: 'settles'; readonly status: 200 }
  /** A question to the user: the call stays pending (RT-PENDING). */
  | { readonly kind: 'holds'; readonly status: 200 }
  /** An event or a view: taken in, ends nothing. */
  | { readonly kind: 'noted'; readonly status: 200 }
  /** Too many questions are open. */
  | { readonly kind: 'ignored'; readonly status: 200; readonly reason: string }
  /** A further result: the first wins (RT-DUP). */
  | { readonly kind: 'duplicate'; readonly status: 200; readonly identical: boolean }
  /** It came after we had stopped waiting. */
  | { readonly kind: 'late'; readonly status: 200 }
  /** It names another call (RT-MATCH). */
  | { readonly kind: 'discarded'; readonly status: 404; readonly reason: string }
  /** It is not a callback at all (RT-VALIDATE), or the listener's guard refused it. */
  | { readonly kind: 'rejected'; readonly status: number; readonly reason: string };

export type VerdictKind = Verdict['kind'];
