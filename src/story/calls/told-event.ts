import type { Event } from '../../exchange/events.js';
import { formatDuration } from '../../text/format-duration.js';
import type { Redactor } from '../../text/redact.js';
import type { Line } from '../line.js';
import { say } from '../spans.js';
import { stepLines } from '../step-line.js';
import type { Step } from '../steps/index.js';
import { eventWords } from './event-words.js';
import { rawLines } from './raw-lines.js';

/** An event of a call, and the steps that it brought to an end. */
export interface ToldEvent {
  readonly event: Event;
  readonly steps: readonly Step[];
}

/** Cells of the margin. */
const MARGIN = 8;
const INDENT = say(' '.repeat(MARGIN + 3), 'gutter');
const BAR = say('│ ', 'gutter');

/** What happened, so long after the call began, and below it what that means. @param begunAt ms since the start */
export function toldEventLines({ event, steps }: ToldEvent, begunAt: number, redactor: Redactor): Line[] {
  const offset = formatDuration(Math.max(0, event.at - begunAt)).padStart(MARGIN);
  return [
    [say(`${offset} `, 'gutter'), ...eventWords(event, redactor)],
    ...steps.flatMap(stepLines).map(lineBelow),
  ];
}

/** The message of an event as it was on the wire; nothing where it has none. */
export function toldBytes({ event }: ToldEvent, redactor: Redactor): Line[] {
  if (!('body' in event) || !event.body) return [];
  return rawLines(event.body, redactor).map(line => lineBelow([BAR, ...line]));
}

/** Stands below an event. */
export function lineBelow(line: Line): Line {
  return [INDENT, ...line];
}
