import type { Content } from '../../exchange/content.js';
import { isRecord } from '../../text/is-record.js';
import type { Line } from '../line.js';
import { say } from '../spans.js';
import { clipped } from '../tool-calls/clip.js';

const MOST_FAULTS = 5;

/** What a platform says of a request that it refuses: `message`, or `detail`, which may be a list that names fields (platforms). */
export function refusalWords(body: Content | undefined): Line {
  const said = body?.json.ok && isRecord(body.json.value) ? saidIn(body.json.value) : '';
  return said === '' ? [] : [say(': '), ...clipped(said)];
}

function saidIn({ message, detail }: Readonly<Record<string, unknown>>): string {
  if (Array.isArray(detail)) return detail.slice(0, MOST_FAULTS).map(faultOf).join('; ');
  return [detail, message].find(words => typeof words === 'string') ?? '';
}

function faultOf(fault: unknown): string {
  if (!isRecord(fault)) return String(fault);
  const { loc, msg } = fault;
  const place = Array.isArray(loc) ? `${loc.map(String).join('.')}: ` : '';
  return place + String(msg);
}
