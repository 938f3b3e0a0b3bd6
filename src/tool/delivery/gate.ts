/** Lets everybody through at once while it is open; keeps them while it is shut. */
export class Gate {
  #opened: Promise<void> | null = null;
  #open: () => void = () => {};

  /** Null where it is open: nobody has to wait then, not even a tick. */
  get opened(): Promise<void> | null {
    return this.#opened;
  }

  shut(): void {
    this.#opened ??= new Promise(resolve => {
      this.#open = resolve;
    });
  }

  open(): void {
    this.#opened = null;
    this.#open();
  }
}
