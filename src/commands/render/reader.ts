import { roundTripsIn } from '../../events/round-trips.js';
import { type Line, lineText, say } from '../../render/line.js';
import type { Colours } from '../../render/terminal/theme.js';
import type { Drawing } from '../../segments/segments.js';
import { systemClock } from '../../system/clock.js';
import { type Readable, readerScreen } from '../../tui/reader/screen.js';
import { type Document, linesDocument } from '../../tui/reading/document.js';
import { joinedDocument } from '../../tui/reading/joined-document.js';
import { onePart, type Part, panePart } from '../../tui/reading/parts.js';
import { roundTripDocuments } from '../../tui/reading/round-trips.js';
import { Memo } from '../../util/collections.js';
import { type ExitStatus, Interruption, type Terminal } from '../terminal.js';
import type { Section } from './saved.js';

/** Shows sections full screen until the user quits or a signal arrives. */
export async function showFullScreen(
  name: string,
  sections: readonly Section[],
  isUnfolded: boolean,
  { level, background }: Colours,
  { stdin, stdout }: Pick<Terminal, 'stdin' | 'stdout'>,
): Promise<ExitStatus> {
  const interrupted = new Interruption();
  try {
    let quit = () => {};
    const over = new Promise<void>(resolve => {
      quit = resolve;
    });
    interrupted.onSignal(quit);
    const screen = readerScreen({
      ...readableOf(name, sections),
      isUnfolded,
      quit,
      stdin,
      stdout,
      clock: systemClock,
      level,
      background,
    });
    await over;
    await screen.close();
    return interrupted.status ?? 0;
  } finally {
    interrupted.release();
  }
}

/** Maximum number of lines above the panes. */
const MAX_HEADING = 6;

/** The panes of a single result stand beside each other below its other lines; anything else is one text. */
export function readableOf(name: string, sections: readonly Section[]): Omit<Readable, 'isUnfolded'> {
  const panes = sections.filter(section => 'human' in section);
  const heading = sections.flatMap(section => (isLines(section) ? section : []));
  const isOneResult = panes.length === 1 && sections.every(each => 'human' in each || isLines(each));
  if (isOneResult && heading.length <= MAX_HEADING) return { name, heading, sheet: panes.flatMap(partsOf) };
  return { name, heading: [], sheet: [joinedPart(sections.flatMap(partsOf))] };
}

function isLines(section: Section): section is readonly Line[] {
  return Array.isArray(section);
}

function partsOf(section: Section): readonly Part[] {
  if (isLines(section)) return section.length > 0 ? onePart([], section) : [];
  if ('human' in section) return [panePart(section.human), panePart(section.llm)];
  if ('drawing' in section) return [panePart(section)];
  if ('kind' in section) return [drawingPart(section)];
  const trips = [...roundTripsIn(section.events).values()];
  const messages = joinedDocument(trips.map(roundTripDocuments(section.redactor)));
  return trips.length > 0 ? [{ title: [say('MESSAGES', 'title')], document: () => messages }] : [];
}

function drawingPart(drawing: Drawing): Part {
  return panePart({ title: 'human', about: '', notes: [], drawing }, []);
}

const BLANK = linesDocument([[]]);

/** Parts below one another, each below its title. */
function joinedPart(parts: readonly Part[]): Part {
  const documents = new Memo<Document>();
  return {
    title: [say('CONTENT', 'title')],
    document: look =>
      documents.of([look.isSplit, look.isUnfolded, look.highlighter], () =>
        joinedDocument(
          parts.flatMap(({ title, document }, index) => [
            ...(index > 0 ? [BLANK] : []),
            ...(lineText(title) === '' ? [] : [linesDocument([title])]),
            document(look),
          ]),
        ),
      ),
  };
}
