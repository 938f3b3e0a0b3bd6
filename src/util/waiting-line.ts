/** Shorter ones are not worth being moved. */
const LEAST = 1_024;

/** First in, first out, in constant time: to take the first key of a Map one by one steps over all that were deleted before. */
export class WaitingLine<Value> {
  #values: Value[] = [];
  #first = 0;

  push(value: Value): void {
    this.#values.push(value);
  }

  shift(): Value | undefined {
    const value = this.#values[this.#first++];
    if (this.#first > LEAST && this.#first * 2 > this.#values.length) {
      this.#values = this.#values.slice(this.#first);
      this.#first = 0;
    }
    return value;
  }
}
