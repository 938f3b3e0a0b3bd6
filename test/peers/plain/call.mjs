import { deliver } from './delivery.mjs';

const open = new Set();

/** One invocation: how to say something about it, and whether it is still wanted. */
export class Call {
  #journal;
  #ending = new AbortController();

  constructor(invocation, { journal, origin }) {
    this.invocation = invocation;
    this.origin = origin;
    this.#journal = journal;
    open.add(this);
  }

  /** Aborted by a cancel of the call, or by the end of its thread. */
  get signal() {
    return this.#ending.signal;
  }

  result(outcome) {
    return this.send('tool_result', { ...this.#names, ...outcome });
  }

  /** Leaves the call pending: on the user, not on us. */
  wait(type, fields) {
    return this.send(type, { ...this.#names, ...fields });
  }

  event(fields, post) {
    return this.send('subscription_event', { tool_call_id: this.invocation.id, ...fields }, post);
  }

  send(type, fields, post) {
    const { group_id, callback_url } = this.invocation;
    return deliver(this.#journal, callback_url, { type, group_id, ...fields }, post);
  }

  /** Nothing more will be said. */
  leave() {
    open.delete(this);
  }

  endIf(thread, id) {
    const { invocation } = this;
    if (invocation.group_id === thread && (id === undefined || invocation.id === id)) this.#ending.abort();
  }

  get #names() {
    const { id, call_id } = this.invocation;
    return { id, call_id };
  }
}

/** A cancelled call, or without an id the whole thread. */
export function end(thread, id) {
  for (const call of open) call.endIf(thread, id);
}
