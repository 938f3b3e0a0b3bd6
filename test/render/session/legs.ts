import { acknowledged, arrives, call, INVOCATION, type Moment, RESULT } from '../../events/build.js';

const json = (id: string) => ({ ...INVOCATION, operation: 'lookup_order', id, group_id: 'thread_rap' });

/** A pending call, as the platform asked for it. */
export const callOf = (key: string) => ({ key, tool_name: 'lookup_order', args: { order_id: key }, id: key });

/** The leg of a call to a RAP tool: its invocation, the acknowledgement, and what came then; a result by default. */
export function legTo(key: string, message: object = { ...RESULT, id: key, text: 'shipped' }): Moment[][] {
  const mine = (moments: readonly Moment[]) =>
    moments.map(each => named({ ...each, calls: [key], thread: 'thread_rap' }, key));
  return [
    mine(call({ invocation: json(key) })),
    mine(acknowledged()),
    mine(arrives({ ...message, group_id: 'thread_rap' })),
  ];
}

/** Legs of two calls have names of their own. */
function named(moment: Moment, key: string): Moment {
  return 'leg' in moment && moment.leg !== undefined ? { ...moment, leg: `${moment.leg} ${key}` } : moment;
}
