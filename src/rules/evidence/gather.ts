import type { Event } from '../../exchange/events.js';
import { type Hop, seenOn } from '../../exchange/hop.js';
import type { TranscriptHeader } from '../../exchange/transcript-format.js';
import type { Side } from '../../protocol/requirements.js';
import { callbackOf } from './callbacks.js';
import { callsOf } from './calls.js';
import { cutShortBy, deathIn } from './death.js';
import { discoveriesOf } from './discoveries.js';
import type { Evidence } from './evidence.js';
import type { Leg } from './leg.js';
import { legsOf } from './legs.js';
import { notCalled } from './not-called.js';
import { isProbe, unprobed } from './unprobed.js';

const HOPS: Readonly<Record<Side, Hop>> = { tool: 'tool-side', runtime: 'runtime-side' };

/** Puts events together as evidence for the requirements of one side: of a recording, what was seen on that side. */
export async function gather(
  events: readonly Event[],
  observer: TranscriptHeader['observer'],
  side: Side,
  isWhole = true,
): Promise<Evidence> {
  const known = seenOn(HOPS[side], events).filter(isRap);
  const seen = side === 'runtime' ? unprobed(known) : known;
  const legs = legsOf(seen);
  const discoveries = await discoveriesOf(legs);
  const calls = await callsOf(seen, legs, discoveries);
  const purposed = (purpose: Leg['request']['purpose']) =>
    legs.filter(({ request }) => request.purpose === purpose);
  const asked = {
    calls,
    discoveries,
    closes: purposed('close'),
    cancels: purposed('cancel'),
    migrations: purposed('migrate'),
  };
  const death = deathIn(asked);
  const cutShort = death ? cutShortBy(death, asked) : new Set();
  return {
    ...asked,
    observer,
    isWhole,
    isProbed: known.some(isProbe),
    calls: calls.map(call => (cutShort.has(call.key) ? { ...call, isCutShort: true } : call)),
    death,
    strays: purposed('callback')
      .filter(({ request: { calls: keys = [] } }) => keys.length === 0)
      .map(leg => callbackOf(leg, null)),
    plans: seen.filter(event => event.kind === 'planned'),
    notCalled: notCalled(known),
    until: seen.at(-1)?.at ?? 0,
  };
}

/** Another wire has requirements of its own. */
function isRap(event: Event): boolean {
  return !('dialect' in event && event.dialect !== undefined);
}
