import { type Detail, detail } from '../judge/detail.js';

/** The query of a request, read field by field; what is wrong is gathered. */
export class Query {
  readonly #fields: URLSearchParams;
  readonly faults: Detail[] = [];

  /** @param target path and query, as sent */
  constructor(target: string) {
    const at = target.indexOf('?');
    this.#fields = new URLSearchParams(at < 0 ? '' : target.slice(at + 1));
  }

  /** A whole number from `min`, no more than `max`. */
  whole<T>(name: string, preset: T, { min = 0, max = Number.MAX_SAFE_INTEGER } = {}): number | T {
    const text = this.#fields.get(name);
    if (text === null) return preset;
    if (!/^-?\d{1,15}$/.test(text)) return this.#fault(preset, name, 'int_parsing', 'a valid integer', text);
    const number = Number(text);
    if (number < min)
      return this.#fault(preset, name, 'greater_than_equal', `greater than or equal to ${min}`, text);
    return Math.min(number, max);
  }

  /** Seconds, with or without a fraction, no more than `max`. */
  seconds(name: string, max: number): number {
    const text = this.#fields.get(name);
    if (text === null) return 0;
    if (!/^\d{1,9}(\.\d{1,9})?$/.test(text))
      return this.#fault(0, name, 'float_parsing', 'a valid number', text);
    return Math.min(Number(text), max);
  }

  flag(name: string, preset: boolean): boolean {
    const text = this.#fields.get(name);
    if (text === null) return preset;
    const value = FLAGS.get(text.toLowerCase());
    return value ?? this.#fault(preset, name, 'bool_parsing', 'a valid boolean', text);
  }

  #fault<T>(preset: T, name: string, type: string, wanted: string, input: string): T {
    this.faults.push(detail(type, ['query', name], `Input should be ${wanted}`, input));
    return preset;
  }
}

const FLAGS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);
