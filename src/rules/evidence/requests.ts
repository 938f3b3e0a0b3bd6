import type { Evidence } from './evidence.js';
import type { Leg } from './leg.js';

/** Everything that was asked of the tool, in order. */
export function requestsOf({
  calls,
  discoveries,
  closes,
  cancels,
  migrations,
}: Pick<Evidence, 'calls' | 'discoveries' | 'closes' | 'cancels' | 'migrations'>): readonly Leg[] {
  const all = [
    ...calls.flatMap(({ attempts, selections }) => [...attempts, ...selections]),
    ...discoveries,
    ...closes,
    ...cancels,
    ...migrations,
  ];
  return all.sort((one, other) => one.request.seq - other.request.seq);
}
