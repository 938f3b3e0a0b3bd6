import type { Role } from '../display/syntax/token.js';

/**
 * Lines with meaning. The story says *what* a piece of text is; `dress/` decides how that looks.
 * Text in a span is always safe to print: foreign text enters through `text/visible`.
 */
export type Tone =
  | 'plain'
  | 'title'
  | 'dim'
  | 'good'
  | 'bad'
  | 'warn'
  | 'running'
  | 'hidden' // a control or invisible character, shown as a picture
  | 'match' // what was searched for
  | 'gutter'
  | 'cursor' // the character that typing goes in front of
  | 'divider' // parts a line into halves, each of which keeps to its own half of the width
  | 'hunk'
  | 'added'
  | 'removed'
  | Role;

/** What a piece of a diff stands on, whatever it is: a row that was changed, or the words in it that were. */
export type Ground = 'added' | 'removed' | 'added-word' | 'removed-word';

export interface Span {
  readonly text: string;
  readonly tone: Tone;
  readonly ground?: Ground;
}

export type Line = readonly Span[];
