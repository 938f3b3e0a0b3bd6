import type { TranscriptHeader } from '../../exchange/transcript-format.js';
import type { Transcript } from '../../exchange/transcript-reader.js';
import type { Line } from '../line.js';
import { quote, say } from '../spans.js';

const SEEN_BY: Readonly<Record<TranscriptHeader['observer'], string>> = {
  runtime: 'by a runtime',
  tool: 'by a tool',
  recorder: 'between a runtime and its tool',
  platform: 'by a platform of agent sessions',
  client: 'by a client of agent sessions',
};

/** How much a transcript holds, and who saw it; that it does not end as it was meant to. */
export function transcriptHeading({ header, events, end }: Transcript, calls: number): Line[] {
  const counts = [...(calls > 0 ? [counted(calls, 'call')] : []), counted(events.length, 'event')];
  const heading: Line = [say('TRANSCRIPT', 'title'), say(` of ${counts.join(', ')}`), ...endWords(end)];
  return [
    heading,
    header ? sightLine(header) : [say('recorded by nobody knows whom: it has no header', 'warn')],
  ];
}

function endWords(end: string | null): Line {
  if (end === null) return [say('; it stops without an end', 'warn')];
  return end === 'done' || end === 'saved' ? [] : [say('; it ended: ', 'warn'), ...quote(end, 'warn')];
}

function sightLine({ observer, program, startedAt }: TranscriptHeader): Line {
  return [
    say(`recorded ${SEEN_BY[observer]}, `, 'dim'),
    ...quote(program, 'dim'),
    say(', ', 'dim'),
    ...quote(momentOf(startedAt), 'dim'),
  ];
}

/** RFC 3339 for the eye, where it is what a transcript says. */
function momentOf(startedAt: string): string {
  const [, day, time] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/.exec(startedAt) ?? [];
  return day === undefined ? startedAt : `${day} ${time} UTC`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
