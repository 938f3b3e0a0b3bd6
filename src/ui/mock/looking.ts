import type { ToolCall } from '../../exchange/tool-call.js';
import type { Browsing } from '../calls/browsing.js';
import type { Listed } from '../calls/lists.js';

/** The calls that are remembered, and the one that is looked at. */
export interface Looking {
  /** Oldest first. */
  readonly calls: readonly ToolCall[];
  /** -1 where none is. */
  readonly index: number;
  readonly call: ToolCall | undefined;
  /** The selected one is not remembered any more. */
  readonly isForgotten: boolean;
}

/** The newest call where it is followed; none where the selected one is forgotten: what is done is done to no other. */
export function lookingAt({ selected }: Browsing, calls: readonly ToolCall[]): Looking {
  const index = selected === null ? calls.length - 1 : calls.findIndex(({ key }) => key === selected);
  return { calls, index, call: calls[index], isForgotten: selected !== null && index < 0 };
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
