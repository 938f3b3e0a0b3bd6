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
  | 'gutter'
  | 'hunk'
  | 'added'
  | 'removed'
  | 'added-word'
  | 'removed-word';

export interface Span {
  readonly text: string;
  readonly tone: Tone;
}

export type Line = readonly Span[];
