import type { Choice, Drawing } from '../display/choose.js';
import type { Warning } from '../protocol/requirements.js';
import { bytesText } from '../text/bytes-text.js';
import { prettyJson } from '../text/json-pretty.js';
import { countUnseen } from '../text/visible.js';

/** What one of the two panes shows, and what is to be said about it. Which pane shows what is decided here and nowhere else. */
export interface Pane {
  readonly title: 'human' | 'llm' | 'view' | 'answer';
  /** In a few words: which segment was chosen, or where the text is from. */
  readonly about: string;
  /** What was passed over, what was altered for the eye. */
  readonly notes: readonly string[];
  readonly drawing: Drawing;
}

export interface Panes {
  readonly human: Pane;
  readonly llm: Pane;
  readonly choice: Choice;
  readonly warnings: readonly Warning[];
}

/** @param fromTool whether it is the tool's own text, or words of ours in its place */
export function llmPane(text: string, fromTool: boolean): Pane {
  const pretty = prettyJson(text);
  const bytes = Buffer.byteLength(text);
  const size = bytesText(bytes);
  return {
    title: 'llm',
    about: fromTool ? `text, ${size}` : `made by this runtime, ${size}`,
    notes: [...(pretty === null ? [] : ['indented here; sent as it is']), ...unseen({ kind: 'text', text })],
    drawing: { kind: 'text', text: pretty ?? text },
  };
}

/** Says that what is drawn holds characters that nobody would see; a diff says so by itself, file by file. */
export function unseen(drawing: Drawing): string[] {
  const count = drawing.kind === 'text' ? countUnseen(drawing.text) : 0;
  return count === 0 ? [] : [`${count} control or invisible character${count === 1 ? '' : 's'} shown`];
}
