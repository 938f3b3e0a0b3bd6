import { breakOf } from '../../evidence/break.js';
import type { Culprit, Evidence } from '../../evidence/evidence.js';
import { eventsOf } from '../../evidence/leg.js';
import { fatal, lacking, type Observation } from '../../observation.js';

/**
 * That the tool died of a message of this kind; null where it did not. A check asks for more at once, so it was this message; elsewhere
 * somebody may have stopped the tool, unless it has cut the connection itself.
 * @param story what the message is: `a malformed payload`
 */
export function onDeath({ death, isProbed }: Evidence, kind: Culprit, story: string): Observation | null {
  if (death?.kind !== kind) return null;
  const { message, later, others } = death;
  const code = message.broken && kind !== 'callback' ? ` (${message.broken.code})` : '';
  const more = others > 0 ? `; ${others} more had been sent by then` : '';
  const what = `the tool did not answer any more after ${story}${code}${more}`;
  const end = lacking(what, [message, later], { about: eventsOf(message) });
  return isProbed || breakOf(message) === 'cut' ? fatal(end) : end;
}
