import type { Observer, Transcript } from '../../events/transcript-reader.js';
import { type Line, line, pluralize, quote, say } from '../../render/line.js';

const SEEN_BY: Readonly<Record<Observer, string>> = {
  runtime: 'by a runtime',
  tool: 'by a tool',
  recorder: 'between a runtime and its tool',
  platform: 'by a platform of agent sessions',
  client: 'by a client of agent sessions',
};

/** Describes the size of a transcript, who recorded it, and whether it is incomplete. */
export function transcriptHeading({ header, events, end }: Transcript, shown: number, calls: number): Line[] {
  const some = shown < calls ? `${shown} of ` : '';
  const counts = [...(calls > 0 ? [some + pluralize(calls, 'call')] : []), pluralize(events.length, 'event')];
  const heading = line`${say('TRANSCRIPT', 'title')} of ${counts.join(', ')}${endWords(end)}`;
  if (!header) return [heading, [say('recorded by an unknown program (no header)', 'warn')]];
  const { observer, program, startedAt } = header;
  const time = startedAt.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/, '$1 $2 UTC');
  return [heading, quote(`recorded ${SEEN_BY[observer]}, ${program}, ${time}`, 'dim')];
}

function endWords(end: string | null): Line {
  if (end === null) return [say('; incomplete (no end record)', 'warn')];
  return end === 'done' || end === 'saved' ? [] : [say('; ended with: ', 'warn'), ...quote(end, 'warn')];
}
