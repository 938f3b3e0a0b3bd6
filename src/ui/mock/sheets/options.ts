import type { Highlighter } from '../../../display/syntax/highlighter.js';
import type { RecentCalls } from '../../../exchange/recent-calls.js';
import type { RecentEvents } from '../../../exchange/recent-events.js';
import type { Clock } from '../../../system/clock.js';

export interface ToolSheetsOptions {
  readonly clock: Clock;
  readonly calls: RecentCalls;
  readonly events: RecentEvents;
  /** Types of display segments that are drawn (RT-DISPLAY). */
  readonly supports: ReadonlySet<string>;
  readonly highlighter: () => Highlighter | null;
  /** A sheet is another one now, though no event came. */
  readonly onChange: () => void;
}
