import type { ToolCall } from '../../exchange/tool-call.js';
import type { Browsing } from '../calls/browsing.js';
import type { Listed } from '../calls/lists.js';

/** The calls that are remembered, and the one that is looked at. */
export interface Looking {
  /** Oldest first. */
  readonly calls: readonly ToolCall[];
  readonly index: number;
  readonly call: ToolCall | undefined;
}

/** The newest call where it is followed; the oldest where the selected one is forgotten. */
export function lookingAt({ selected }: Browsing, calls: readonly ToolCall[]): Looking {
  const index =
    selected === null
      ? calls.length - 1
      : Math.max(
          0,
          calls.findIndex(({ key }) => key === selected),
        );
  return { calls, index, call: calls[index] };
}

/** For search: operation, id, thread, and what answers it. */
export function listedCalls({ calls, index }: Looking): Listed {
  return {
    ids: calls.map(({ key }) => key),
    selected: Math.max(0, index),
    textOf: at => {
      const { invocation, addressee, answeredBy } = calls[at] ?? {};
      return [invocation?.operation, addressee?.id, addressee?.group_id, answeredBy].join(' ');
    },
  };
}
