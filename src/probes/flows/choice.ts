import { respondToChoice } from '../../runtime/notices.js';
import { readUrl } from '../../text/url.js';
import { isLoopback } from '../../transport/addresses.js';
import type { Desk } from '../desk.js';
import type { Letter } from '../mailbox.js';
import type { Conversing } from './flow.js';

/** A question has its default selected, as a dismissed prompt does (TOOL-CHOICE). */
export function choose(
  desk: Desk,
  { key, thread }: Conversing,
  { leg, message }: Letter,
): Promise<void> | undefined {
  if (message?.type !== 'user_choice') return undefined;
  const { log } = desk.wire;
  const { response_url: url, default: selected, id } = message;
  if (!isNear(url, desk)) {
    log.emit({
      kind: 'warned',
      calls: [key],
      message: 'nothing was selected: response_url is another host than the tool',
    });
    return undefined;
  }
  log.emit({ kind: 'decided', what: 'choice', by: 'policy', value: selected, question: leg, calls: [key] });
  return respondToChoice(desk.wire, url, { key, thread, signal: desk.signal }, { id, selected }).then(
    () => {},
  );
}

/** A check posts to the tool, and to no third party that it names: on this machine only where the tool is, too (threats, row 9). */
export function isNear(url: string, { base, endpoint }: Pick<Desk, 'base' | 'endpoint'>): boolean {
  const there = readUrl(url);
  if (!there) return false;
  const isLocal = isLoopback(there.hostname);
  if (isLocal) return isLoopback(readUrl(base)?.hostname ?? '');
  return [base, endpoint].some(own => readUrl(own)?.host === there.host);
}
