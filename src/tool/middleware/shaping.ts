import { jsonPath } from '../../text/json-path.js';
import { REDACTED } from '../../text/redact.js';
import { withoutControls } from './controls.js';
import { asJson } from './json-value.js';
import { Names } from './names.js';
import type { Rules } from './rules.js';
import type { Secrets } from './secrets.js';
import { WordFinder } from './word-finder.js';

/** More of them tell nobody more. */
const MAX_CHANGES = 100;

/** One place of a message that middleware changes. The path is that of the changed message, in which keys may have changed too. */
export interface Change {
  readonly path: string;
  readonly change: 'redacted' | 'sanitized';
}

/** Makes a copy of a value, with the changes that the rules ask for. The value must have been surveyed. */
export class Shaping {
  /** The first hundred. */
  readonly changes: Change[] = [];
  readonly #path: PropertyKey[] = [];
  readonly #finder: WordFinder;

  constructor(
    private readonly rules: Rules,
    private readonly secrets: Secrets,
  ) {
    this.#finder = new WordFinder(secrets.forms());
  }

  /** Sanitised first: no control character may hide a secret from us. */
  shape(value: unknown): unknown {
    if (typeof value === 'string') return this.#noting(value, this.#shapeText(value));
    if (typeof value === 'number') return this.secrets.has(String(value)) ? this.#redacted() : value;
    if (typeof value !== 'object' || value === null) return value;
    const json = asJson(value);
    if (json !== value) return this.shape(json);
    return Array.isArray(value) ? this.#list(value) : this.#record(value);
  }

  #list(list: readonly unknown[]): unknown[] {
    return list.map((each, index) => this.#at(index, () => this.shape(each)));
  }

  /** Without a prototype: a key `__proto__` is a key like any other (threats, row 19). */
  #record(record: object): object {
    const copy: Record<string, unknown> = Object.create(null);
    const names = new Names(record);
    for (const [key, member] of Object.entries(record)) {
      const shaped = this.#shapeText(key);
      const name = shaped.text === key ? key : names.take(shaped.text);
      copy[name] = this.#at(name, () => {
        this.#noting(key, shaped);
        return this.rules.isSecret(key) ? this.#secret(member) : this.shape(member);
      });
    }
    return copy;
  }

  #secret(value: unknown): string {
    return value === REDACTED ? value : this.#redacted();
  }

  #redacted(): string {
    this.#note('redacted');
    return REDACTED;
  }

  #shapeText(text: string): ShapedText {
    const sanitized = this.rules.sanitize ? withoutControls(text) : text;
    return { sanitized, text: this.#finder.replaceIn(sanitized, REDACTED) };
  }

  #noting(before: string, { sanitized, text }: ShapedText): string {
    if (sanitized !== before) this.#note('sanitized');
    if (text !== sanitized) this.#note('redacted');
    return text;
  }

  #note(change: Change['change']): void {
    if (this.changes.length < MAX_CHANGES) this.changes.push({ path: jsonPath(this.#path), change });
  }

  #at<T>(key: PropertyKey, work: () => T): T {
    this.#path.push(key);
    const result = work();
    this.#path.pop();
    return result;
  }
}

interface ShapedText {
  readonly sanitized: string;
  readonly text: string;
}
