import type { ColourLevel } from '../../../dress/colour-level.js';
import type { Event } from '../../../exchange/events.js';
import type { TranscriptHeader } from '../../../exchange/transcript-format.js';
import type { Redactor } from '../../../text/redact.js';
import type { Heard } from '../heard.js';

/** What a format needs to know. */
export interface FormatOptions {
  readonly supports: ReadonlySet<string>;
  readonly redactor: Redactor;
  /** What tools are given. */
  readonly callbackUrl: string;
  readonly about: Pick<TranscriptHeader, 'startedAt' | 'observer' | 'program'>;
  readonly level: ColourLevel;
  readonly isTTY: boolean;
  /** Cells of a line, where there is a limit. */
  readonly width?: number;
}

/** One way to write down what comes, in lines. */
export interface Format {
  readonly begin: readonly string[];
  /** Whether it tells every event, and not just what was heard. */
  readonly isWhole: boolean;
  lines(event: Event, heard: Heard | null): readonly string[];
  /** So many came while nobody read. */
  lost(count: number, event: Event): readonly string[];
  end(reason: string): readonly string[];
}
