import { isRecord } from '../../text/is-record.js';

const MOST_FAULTS = 5;

/** What a platform says of a request that it refuses: `detail`, which may be a list that names fields, or `message` (platforms). */
export function refusalIn(body: unknown): string {
  if (!isRecord(body)) return '';
  const { message, detail } = body;
  if (Array.isArray(detail)) return detail.slice(0, MOST_FAULTS).map(faultIn).join('; ');
  return [detail, message].find(words => typeof words === 'string') ?? '';
}

function faultIn(fault: unknown): string {
  if (!isRecord(fault)) return String(fault);
  const { loc, msg } = fault;
  const place = Array.isArray(loc) ? `${loc.map(String).join('.')}: ` : '';
  return place + String(msg);
}
