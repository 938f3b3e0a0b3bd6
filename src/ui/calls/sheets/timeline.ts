import { lineBelow, type ToldEvent, toldBytes, toldEventLines } from '../../../story/calls/index.js';
import type { Line } from '../../../story/line.js';
import { say } from '../../../story/spans.js';
import { stepLine } from '../../../story/step-line.js';
import { Memo } from '../../../text/memo.js';
import type { Redactor } from '../../../text/redact.js';
import { linesDocument } from '../../document/index.js';
import type { Sheet, Tabbed } from './sheet.js';
import { countedWords, type Story } from './story.js';

/** Every event of the call with its offset, and the steps that it brought to an end; with bytes, each message below its event. */
export function timelineTab(story: Story, redactor: Redactor): Tabbed {
  const bare = telling(story, (each, begunAt) => toldEventLines(each, begunAt, redactor));
  const withBytes = telling(story, (each, begunAt) => withBytesLines(each, begunAt, redactor));
  return ({ showsBytes }) => (showsBytes ? withBytes() : bare());
}

/** What was told stays told: only what came since is added. */
function telling(story: Story, tell: (each: ToldEvent, begunAt: number) => readonly Line[]): () => Sheet {
  const sheets = new Memo<Sheet>();
  const lines: Line[] = [];
  let count = 0;
  return () => {
    const { told } = story;
    const begunAt = told[0]?.event.at ?? 0;
    for (const each of told.slice(count)) lines.push(...tell(each, begunAt));
    count = told.length;
    return sheets.of([count], () =>
      sheetOf([...lines, ...story.running.map(runningLine)], countedWords(count, 'event', story.forgotten)),
    );
  };
}

function withBytesLines(each: ToldEvent, begunAt: number, redactor: Redactor): readonly Line[] {
  const [event = [], ...steps] = toldEventLines(each, begunAt, redactor);
  return [event, ...toldBytes(each, redactor), ...steps];
}

function runningLine(step: ToldEvent['steps'][number]): Line {
  return lineBelow(stepLine(step));
}

function sheetOf(lines: readonly Line[], about: string): Sheet {
  const title: Line = [say('TIMELINE', 'title'), say(` ${about}`, 'dim')];
  return { parts: [{ title, document: linesDocument(lines), pane: null, isStream: true }] };
}
