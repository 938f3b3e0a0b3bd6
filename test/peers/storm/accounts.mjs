import { EventEmitter, once } from 'node:events';

/** What was sent, and what came back for it. */
export class Accounts extends EventEmitter {
  crossed = 0;
  twice = 0;
  disordered = 0;
  refusals = new Map();
  #open;

  constructor({ calls, threads, keyed, own }) {
    super();
    this.setMaxListeners(0);
    this.expectsText = keyed || own !== undefined;
    this.entries = Array.from({ length: calls }, (_, index) => entryOf(index, threads, keyed));
    this.byPath = new Map(this.entries.map(entry => [entry.path, entry]));
    this.#open = calls;
  }

  byThread() {
    const threads = new Map();
    for (const entry of this.entries)
      threads.set(entry.group_id, [...(threads.get(entry.group_id) ?? []), entry]);
    return [...threads.values()];
  }

  /** A call that was not acknowledged is not waited for. */
  refused(entry, status) {
    this.#settle(entry);
    this.refusals.set(status, (this.refusals.get(status) ?? 0) + 1);
  }

  /** A callback that came to `path`. */
  take(path, body) {
    const entry = this.byPath.get(path);
    const isOwn =
      entry &&
      body?.id === entry.id &&
      body.group_id === entry.group_id &&
      body.call_id === `also_${entry.id}`;
    if (!isOwn || body.type !== 'tool_result') this.crossed += 1;
    else if (entry.isDelivered) this.twice += 1;
    else this.#deliver(entry, body.text);
  }

  #deliver(entry, text) {
    entry.isDelivered = true;
    if (this.expectsText && text !== entry.text) this.disordered += 1;
    this.#settle(entry);
  }

  #settle(entry) {
    if (entry.isSettled) return;
    entry.isSettled = true;
    this.#open -= 1;
    this.emit(entry.id);
    if (this.#open === 0) this.emit('settled');
  }

  async arrived({ id, isSettled }, deadline) {
    if (!isSettled) await once(this, id, { signal: deadline }).catch(() => {});
  }

  async settled(deadline) {
    if (this.#open > 0) await once(this, 'settled', { signal: deadline }).catch(() => {});
  }

  summary() {
    const count = fits => this.entries.filter(fits).length;
    const sent = count(({ isSent }) => isSent);
    const delivered = count(({ isDelivered }) => isDelivered);
    const { twice, crossed, disordered } = this;
    const refusals = Object.fromEntries(this.refusals);
    const acked = count(({ isAcked }) => isAcked);
    return { sent, acked, delivered, missing: sent - delivered, twice, crossed, disordered, refusals };
  }
}

function entryOf(index, threads, keyed) {
  const thread = index % threads;
  const count = Math.floor(index / threads) + 1;
  const id = `storm_${thread}_${count}`;
  const state = { isSent: false, isAcked: false, isDelivered: false, isSettled: false };
  const text = keyed ? String(count) : `text of ${id}`;
  return { id, group_id: `thread_${thread}`, path: `/storm/${thread}/${count}/?of=${index}`, text, ...state };
}
