import type { Fixtures } from '../scenario.js';

/** What a tool does when an operation is called. A text is a result. */
export function on(operation: string, reply: string | object, faults?: object): object {
  return {
    match: { operation },
    reply: typeof reply === 'string' ? { payload: reply } : reply,
    ...(faults && { faults }),
  };
}

/** A server without a toolset of its own: it offers the operations of its fixtures. */
export function serving(...fixtures: readonly object[]): Fixtures {
  return { fixtures };
}

/** Steps of a reply. */
export const result = (text: string, more: object = {}) => ({ result: { text, ...more } });
export const event = (text: string, more: object = {}) => ({ event: { text, ...more } });

/** The step comes when the scenario fires it. */
export const ON_DEMAND = { on: 'demand' };
