/** The calls that a session waits for, by its events: the latest counts. A wait ends when the state is another one. */
export class Pending {
  #calls = [];
  #answered = new Set();

  apply({ type, data }) {
    if (type !== 'ActiveStateChangeEvent') return;
    const isAwaiting = data.state === 'awaiting_tool_results';
    this.#calls = isAwaiting ? data.pending_tool_calls : [];
    if (!isAwaiting) this.#answered.clear();
  }

  /** Those that were not taken in this wait; from now on they are. */
  take() {
    const names = new Map();
    return this.#calls.filter(call => {
      const name = call.id ?? JSON.stringify([call.tool_name, call.args ?? {}]);
      const count = (names.get(name) ?? 0) + 1;
      names.set(name, count);
      const key = `${count} ${name}`;
      const isNew = !this.#answered.has(key);
      this.#answered.add(key);
      return isNew;
    });
  }
}
