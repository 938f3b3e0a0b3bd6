import type { ToolResult } from '../../protocol/callbacks/index.js';
import type { CallbackEvidence, Evidence } from './evidence.js';
import { toldAs } from './messages.js';

type Segments = NonNullable<ToolResult['display_as']>;

/** A result, and how it wants to be shown. */
export interface Display {
  readonly callback: CallbackEvidence;
  readonly segments: Segments;
}

/** Every result with a `display_as`. */
export function displaysOf({ calls }: Pick<Evidence, 'calls'>): readonly Display[] {
  return calls.flatMap(call =>
    toldAs(call, 'tool_result').flatMap(({ callback, message: { display_as: segments } }) =>
      segments && segments.length > 0 ? [{ callback, segments }] : [],
    ),
  );
}
