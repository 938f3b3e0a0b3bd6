/** Keeps what was made last, as long as it would be made of the same. */
export class Memo<Value> {
  #kept: { readonly from: readonly unknown[]; readonly value: Value } | null = null;

  of(from: readonly unknown[], make: () => Value): Value {
    if (!this.#kept || !isSame(this.#kept.from, from)) this.#kept = { from, value: make() };
    return this.#kept.value;
  }
}

function isSame(before: readonly unknown[], now: readonly unknown[]): boolean {
  return before.length === now.length && before.every((each, index) => Object.is(each, now[index]));
}
