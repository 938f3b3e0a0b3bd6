import { formatDuration } from '../../text/format-duration.js';
import type { Line } from '../line.js';
import { quote, say } from '../spans.js';
import type { Piece } from './piece.js';
import { type Proof, type WireLeg, type WireRecord, wireLegs } from './wire-legs.js';

/** Requests shown of those that prove something; the others are in the transcript. */
const MOST_LEGS = 4;

/** The requests that prove something, each with what became of it and the part of its bodies that matters; alike ones once. */
export function wireLines(proof: Proof, record: WireRecord): readonly Line[] {
  const { shown, rest } = tellingLegs(proof, record);
  return [
    ...shown.flatMap(legLines),
    ...(rest > 0 ? [[say('│ ', 'gutter'), say(`… ${rest} more`, 'dim')]] : []),
  ];
}

/** Those that are shown, and how many are not. */
export function tellingLegs(proof: Proof, record: WireRecord) {
  const legs = wireLegs(proof, record);
  const looks = legs.map(looksOf);
  const different = legs.filter((_, index) => looks.indexOf(looks[index] ?? '') === index);
  const shown = different.slice(0, MOST_LEGS);
  return { shown, rest: legs.length - shown.length };
}

/** What a reader sees of it, but for how long it took. */
function looksOf({ method, url, operation, end, endedBy, request, response }: WireLeg): string {
  return JSON.stringify([method, url, operation, end, endedBy, request, response]);
}

function legLines(leg: WireLeg): Line[] {
  const { method, url, request, response } = leg;
  return [
    [say('│ ', 'gutter'), ...quote(`${method} ${url}`), ...endOf(leg)],
    ...request.map(piece => pieceLine(piece, '')),
    ...response.map(piece => pieceLine(piece, '← ')),
  ];
}

function endOf({ end, endedBy, ms, operation }: WireLeg): Line {
  const what = operation === null ? [] : [say(' · of ', 'dim'), ...quote(operation, 'dim')];
  if (end === null || ms === null) return [say(' is not answered', 'dim'), ...what];
  const how = endedBy === null ? quote(end) : endedByProbe(end, endedBy);
  return [say(' → ', 'dim'), ...how, say(` after ${formatDuration(ms)}`, 'dim'), ...what];
}

/** It is the check's own listener that did not take it, and no fault of the tool's. */
function endedByProbe(end: string, probe: string): Line {
  const isStatus = /^\d+$/.test(end);
  return [...quote(isStatus ? end : 'left unanswered'), say(' by the probe ', 'dim'), ...quote(probe, 'dim')];
}

function pieceLine({ place, text, point: [from, to] = [0, 0] }: Piece, mark: string): Line {
  const begin = [say('│   ', 'gutter'), ...(mark === '' ? [] : [say(mark, 'dim')])];
  if (place === null) return [...begin, ...quote(text, 'dim')];
  return [
    ...begin,
    ...quote(`${place}  `, 'dim'),
    ...quote(text.slice(0, from)),
    ...quote(text.slice(from, to), 'bad'),
    ...quote(text.slice(to)),
  ];
}
