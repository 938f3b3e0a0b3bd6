import type { MiddlewareSettings } from '../fixtures/file-schema.js';
import type { Invocation } from '../protocol/invocation.js';
import { memoizeByString } from '../util/collections.js';
import { LIMITS } from '../util/limits.js';
import { createRedactor, REDACTED, type Redactor } from '../util/redact.js';
import { jsonPath } from '../util/values.js';

/**
 * User code that processes requests and responses, in the given order (seed 003).
 * @example
 * const log: Middleware = { onRequest: invocation => void console.error(invocation.operation) };
 */
export interface Middleware {
  /** Called with every invocation before it is executed; an error that it throws becomes an error result. */
  onRequest?(invocation: Invocation): Invocation | undefined | Promise<Invocation | undefined>;
  /** Called with a `payload` before it is wrapped; never with a `result`, which is sent verbatim. Returns the payload to send. */
  onResponse?(payload: unknown, invocation: Invocation): unknown;
}

/** One change to a message. The path is that of the changed message, in which keys may have changed too. */
export interface Change {
  readonly path: string;
  readonly change: 'redacted' | 'sanitized';
}

/** The same value if nothing changed, else a copy. */
export interface Shaped {
  readonly value: unknown;
  readonly changes: readonly Change[];
}

export interface ShapedText extends Shaped {
  readonly value: string;
}

const NO_CHANGES: readonly Change[] = [];

/**
 * Applies the user's middleware, then redaction and sanitizing, to all invocations and payloads (seed 003; TOOL-SECRET). The values of
 * secret keys become `[redacted]` at any depth. Any text that contains one of them, or a secret of the invocation's arguments, in any
 * of its encodings, is redacted too: tools often echo secrets. Values shorter than four characters are not searched for.
 */
export class Middlewares {
  readonly #isSecretKey: (key: string) => boolean;

  constructor(
    private readonly settings: MiddlewareSettings,
    private readonly users: readonly Middleware[] = [],
  ) {
    const secretKeys = new Set(settings.redact.map(bareKey).filter(Boolean));
    this.#isSecretKey = memoizeByString(key => secretKeys.has(bareKey(key)));
  }

  async request(invocation: Invocation): Promise<Invocation> {
    return this.users.length === 0 ? invocation : this.#requestThroughUsers(invocation);
  }

  /**
   * Returns the payload to send, and the changes to log.
   * @throws RangeError if the value is nested deeper than 128 levels or contains itself.
   */
  async response(payload: unknown, invocation: Invocation): Promise<Shaped> {
    const value = this.users.length === 0 ? payload : await this.#responseThroughUsers(payload, invocation);
    return this.#redacted(value, invocation);
  }

  /** Returns the changes that middleware would make to a result that is sent verbatim. */
  changesTo(fields: unknown, invocation: Invocation): readonly Change[] {
    return this.#shape(fields, invocation.arguments).changes;
  }

  /** Redacts the texts of outcomes. They are not payloads, so the user's middleware does not process them. */
  words(text: string, invocation: Invocation): ShapedText {
    const { value, changes } = this.#redacted(text, invocation);
    return { value: String(value), changes };
  }

  #redacted(payload: unknown, invocation: Invocation): Shaped {
    const shaped = this.#shape(payload, invocation.arguments);
    return this.settings.audit ? shaped : { value: shaped.value, changes: NO_CHANGES };
  }

  #shape(value: unknown, args: unknown): Shaped {
    const survey = new Survey(this.#isSecretKey, this.settings.sanitize);
    survey.visit(value); // first, so that `isClean` is about the payload only
    const { isClean } = survey;
    survey.visit(args);
    if (isClean && survey.secrets.size === 0) return { value, changes: NO_CHANGES };
    const shaping = new Shaping(this.#isSecretKey, this.settings.sanitize, survey.secrets);
    const shaped = shaping.shape(value);
    return shaping.changes.length === 0
      ? { value, changes: NO_CHANGES }
      : { value: shaped, changes: shaping.changes };
  }

  async #requestThroughUsers(invocation: Invocation): Promise<Invocation> {
    let current = invocation;
    for (const { onRequest } of this.users) current = (await onRequest?.(current)) ?? current;
    return current;
  }

  async #responseThroughUsers(payload: unknown, invocation: Invocation): Promise<unknown> {
    let current = payload;
    for (const { onResponse } of this.users) if (onResponse) current = await onResponse(current, invocation);
    return current;
  }
}

const BESIDES_LETTERS = /[^\p{L}\p{N}]/gu;

/** `api_key`, `apiKey`, `api-key` and `API KEY` are one key. */
function bareKey(key: string): string {
  return key.replace(BESIDES_LETTERS, '').toLowerCase();
}

/** C0, DEL and C1, except line feeds and tabs. */
const CONTROL = /(?![\n\t])\p{Cc}/u;

const CONTROLS = new RegExp(CONTROL, 'gu');

function withoutControls(text: string): string {
  return text.replace(CONTROLS, '');
}

/** The value as `JSON.stringify` writes it, such as a date as text. */
function asJson(value: object): unknown {
  return 'toJSON' in value && typeof value.toJSON === 'function' ? value.toJSON() : value;
}

/** Minimum length of a secret, in characters; shorter values are too common to replace. */
const MIN_SECRET_LENGTH = 4;

const CREDENTIALS = /^(?:basic|bearer|digest|token) +(\S+)$/i;

/** Collects the secrets of a message: all values at or below a secret key. */
class Survey {
  /** Secrets in the order in which they were found. */
  readonly secrets = new Set<string>();
  /** Whether the visited values need no change, apart from repeated secrets. */
  isClean = true;

  constructor(
    private readonly isSecretKey: (key: string) => boolean,
    private readonly sanitize: boolean,
  ) {}

  /** @throws RangeError if the value has more than 128 levels (threats, row 18), for example because it contains itself. */
  visit(value: unknown, isSecret = false, depth = 0): void {
    if (typeof value === 'string') {
      if (isSecret) this.#add(value);
      else this.#look(value);
    } else if (typeof value === 'number' && isSecret) this.#add(String(value));
    else if (typeof value === 'object' && value !== null) this.#inside(value, isSecret, depth + 1);
  }

  #inside(holder: object, isSecret: boolean, depth: number): void {
    if (depth > LIMITS.jsonDepth.value)
      throw new RangeError(`a value is nested deeper than ${LIMITS.jsonDepth.value} levels`);
    const value = asJson(holder);
    if (value !== holder) this.visit(value, isSecret, depth);
    else if (Array.isArray(value)) for (const each of value) this.visit(each, isSecret, depth);
    else
      for (const key of Object.keys(holder)) {
        const member: unknown = holder[key as keyof typeof holder];
        const isSecretKey = this.isSecretKey(key);
        this.#look(key);
        if (isSecretKey && member !== REDACTED) this.isClean = false;
        this.visit(member, isSecret || isSecretKey, depth);
      }
  }

  /** Adds a secret; for `Bearer x`, also `x` alone. */
  #add(secret: string): void {
    if (secret === REDACTED) return;
    const [, credentials = ''] = CREDENTIALS.exec(secret) ?? [];
    for (const each of [secret, credentials]) if (each.length >= MIN_SECRET_LENGTH) this.secrets.add(each);
  }

  #look(text: string): void {
    if (this.isClean && this.sanitize && CONTROL.test(text)) this.isClean = false;
  }
}

const MAX_CHANGES = 100;

class Shaping {
  readonly changes: Change[] = [];
  readonly #path: PropertyKey[] = [];
  readonly #redactor: Redactor;

  constructor(
    private readonly isSecretKey: (key: string) => boolean,
    private readonly sanitize: boolean,
    private readonly secrets: ReadonlySet<string>,
  ) {
    this.#redactor = createRedactor(
      new Set([...secrets].flatMap(secret => [secret, withoutControls(secret)])),
    );
  }

  shape(value: unknown): unknown {
    if (typeof value === 'string') return this.#text(value);
    if (typeof value === 'number') return this.secrets.has(String(value)) ? this.#redacted() : value;
    if (typeof value !== 'object' || value === null) return value;
    const json = asJson(value);
    if (json !== value) return this.shape(json);
    if (!Array.isArray(value)) return this.#record(value);
    return value.map((each, index) => this.#at(index, () => this.shape(each)));
  }

  /** Creates objects without a prototype, so that `__proto__` is an ordinary key (threats, row 19). */
  #record(record: object): object {
    const copy: Record<string, unknown> = Object.create(null);
    for (const [key, member] of Object.entries(record)) {
      const shaped = this.#shapedText(key);
      const name = shaped.text;
      copy[name] = this.#at(name, () => {
        this.#noteText(key, shaped);
        if (!this.isSecretKey(key)) return this.shape(member);
        return member === REDACTED ? member : this.#redacted();
      });
    }
    return copy;
  }

  #redacted(): string {
    this.#note('redacted');
    return REDACTED;
  }

  #text(before: string): string {
    const shaped = this.#shapedText(before);
    this.#noteText(before, shaped);
    return shaped.text;
  }

  #noteText(
    before: string,
    { sanitized, text }: { readonly sanitized: string; readonly text: string },
  ): void {
    if (sanitized !== before) this.#note('sanitized');
    if (text !== sanitized) this.#note('redacted');
  }

  /** Sanitizes first, because control characters could hide a secret. */
  #shapedText(before: string) {
    const sanitized = this.sanitize ? withoutControls(before) : before;
    return { sanitized, text: this.#redactor.text(sanitized) };
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
