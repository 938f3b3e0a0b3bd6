import type { Pane } from '../../story/panes.js';
import { quote } from '../../story/spans.js';
import { diffDocument } from './diff-document.js';
import type { Document, Look } from './document.js';
import { joinedDocument } from './joined-document.js';
import { linesDocument } from './lines-document.js';
import { textDocument } from './text-document.js';

/** A pane without its heading: its notes, then its drawing. */
export function paneDocument({ notes, drawing }: Pane, look: Look): Document {
  const drawn = drawing.kind === 'diff' ? diffDocument(drawing.diff, look) : textDocument(drawing.text);
  return joinedDocument([linesDocument(notes.map(note => quote(note, 'warn'))), drawn]);
}
