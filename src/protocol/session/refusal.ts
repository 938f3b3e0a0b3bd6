import { foreignWords } from '../../text/foreign-words.js';
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
  if (!isRecord(fault)) return foreignWords(fault);
  const { loc, msg } = fault;
  if (msg === undefined) return foreignWords(fault);
  const place = Array.isArray(loc) ? `${loc.map(foreignWords).join('.')}: ` : '';
  return place + foreignWords(msg);
}
