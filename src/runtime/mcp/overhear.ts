import type { Link } from './link.js';

/** Gets every message of a link as it stands on the wire. */
export type Hearing = (message: unknown, way: 'sent' | 'received') => void;

/** Tells what goes over a link, both ways; to be called before it is opened. */
export function overhear(link: Link, hear: Hearing): void {
  const send = link.send.bind(link);
  link.send = (message, options) => {
    hear(message, 'sent');
    return send(message, options);
  };
  const take = link.onmessage;
  link.onmessage = (message, extra) => {
    hear(message, 'received');
    take?.(message, extra);
  };
}
