import type { Fact } from '../../exchange/events.js';
import type { Log } from '../../exchange/log.js';

const WIRE: ReadonlySet<Fact['kind']> = new Set(['request', 'response', 'broken']);

/** Tells in another log what is decided about calls; not what came over the wire, or would have. */
export function passOn(from: Log, to: Log): void {
  from.subscribe(({ seq: _seq, at: _at, ...fact }) => {
    if (!WIRE.has(fact.kind)) to.emit(fact);
  });
}
