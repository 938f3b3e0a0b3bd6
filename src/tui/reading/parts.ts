import { type Line, quote, redactLine } from '../../render/line.js';
import { type Pane, paneHeading } from '../../render/panes.js';
import { Memo, memoizeByObject } from '../../util/collections.js';
import { diffDocument } from './diff-document.js';
import { type Document, type Look, linesDocument } from './document.js';
import { joinedDocument } from './joined-document.js';
import { textDocument } from './text-document.js';

/** How a part is drawn. */
export interface PartLook extends Look {
  /** The timeline shows raw messages. */
  readonly showsBytes: boolean;
}

/** A text under a title. */
export interface Part {
  readonly title: Line;
  /** Called for each frame, so it must not lay out large contents again. */
  readonly document: (look: PartLook) => Document;
  /** The part grows at its end: a reader at the end stays at the end. */
  readonly isStream?: boolean;
  /** Called after each frame that shows the part. */
  readonly onDrawn?: () => void;
}

/** Returns what removes secrets from what is shown of a part. */
export function partRedactor(redact: (text: string) => string): (part: Part) => Part {
  const clean = memoizeByObject((document: Document): Document => {
    const lines = (all: readonly Line[]) => all.map(line => redactLine(line, redact));
    return {
      get length() {
        return document.length;
      },
      line: index => redactLine(document.line(index), redact),
      headersAt: index => lines(document.headersAt(index)),
      find: (wanted, from, step) => document.find(wanted, from, step),
      landmarks: kind => document.landmarks(kind),
      isFoldable: () => document.isFoldable(),
      anchorAt: line => document.anchorAt(line),
      lineAt: anchor => document.lineAt(anchor),
    };
  });
  return memoizeByObject((part: Part): Part => ({ ...part, document: look => clean(part.document(look)) }));
}

/** What a tab shows of an entry. */
export type Sheet = readonly Part[];

export function onePart(title: Line, lines: readonly Line[], isStream = false): Sheet {
  const document = linesDocument(lines);
  return [{ title, document: () => document, isStream }];
}

/** A pane as a part, laid out once for each look. */
export function panePart(pane: Pane, title = paneHeading(pane)): Part {
  const documents = new Memo<Document>();
  const isDiff = pane.drawing.kind === 'diff';
  return {
    title,
    document: look =>
      documents.of(isDiff ? [look.isSplit, look.isUnfolded, look.highlighter] : [], () =>
        paneDocument(pane, look),
      ),
  };
}

function paneDocument({ notes, drawing }: Pane, look: Look): Document {
  const drawn = drawing.kind === 'diff' ? diffDocument(drawing.diff, look) : textDocument(drawing.text);
  return joinedDocument([linesDocument(notes.map(note => quote(note, 'warn'))), drawn]);
}
