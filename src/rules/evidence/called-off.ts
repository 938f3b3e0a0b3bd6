import type { CallEvidence } from './evidence.js';

/** The place at which a call was first not wanted any more: cancelled, or its thread closed; endless where it never was. */
export function calledOffAt({ cancels, closes, decisions }: CallEvidence): number {
  const places = [
    ...[...cancels, ...closes].map(({ request }) => request.seq),
    ...decisions.flatMap(({ what, seq }) => (what === 'cancel' ? [seq] : [])),
  ];
  return places.reduce((first, place) => Math.min(first, place), Number.POSITIVE_INFINITY);
}
