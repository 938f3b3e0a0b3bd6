import type { Highlighter } from '../../../display/syntax/highlighter.js';
import type { Verdicts } from './verdicts.js';

export interface SheetsOptions {
  /** Types of display segments that are drawn (RT-DISPLAY). */
  readonly supports: ReadonlySet<string>;
  readonly highlighter: () => Highlighter | null;
  readonly verdicts: Verdicts;
  /** A sheet is another one now, though no event came. */
  readonly onChange: () => void;
}
