import type { Invocation } from '../../protocol/read-invocation.js';
import { REDACTED } from '../../util/redact.js';
import { remembering } from '../../util/remembering.js';
import { asJson, type Change, checkDepth, hasControls, type Rules, Secrets, Shaping } from './redact.js';

const BESIDES_LETTERS = /[^\p{L}\p{N}]/gu;

/** Tells keys whose values are secrets: `api_key`, `apiKey`, `api-key` and `API KEY` are one key. */
export function secretKeys(names: readonly string[]): (key: string) => boolean {
  const known = new Set(names.map(bare).filter(Boolean));
  return remembering(key => known.has(bare(key)));
}

function bare(key: string): string {
  return key.replace(BESIDES_LETTERS, '').toLowerCase();
}

/**
 * Looks a value through, adds its secrets to `secrets`, and says whether it could stay as it is, were it not for those.
 * @throws RangeError where it is nested too deep.
 */
function survey(value: unknown, rules: Rules, secrets: Secrets): boolean {
  const tour = new Tour(rules, secrets);
  tour.visit(value, false, 0);
  return tour.isClean;
}

class Tour {
  isClean = true;

  constructor(
    private readonly rules: Rules,
    private readonly secrets: Secrets,
  ) {}

  visit(value: unknown, isSecret: boolean, depth: number): void {
    if (typeof value === 'string') this.#text(value, isSecret);
    else if (typeof value === 'number' && isSecret) this.secrets.add(String(value));
    else if (typeof value === 'object' && value !== null) this.#inside(value, isSecret, depth + 1);
  }

  #text(text: string, isSecret: boolean): void {
    if (isSecret) this.secrets.add(text);
    else this.#note(text);
  }

  #inside(holder: object, isSecret: boolean, depth: number): void {
    checkDepth(depth);
    const value = asJson(holder);
    if (value !== holder) this.visit(value, isSecret, depth);
    else if (Array.isArray(value)) for (const each of value) this.visit(each, isSecret, depth);
    else
      for (const [key, member] of Object.entries(holder)) {
        const isSecretKey = this.rules.isSecret(key);
        this.#note(key);
        if (isSecretKey && member !== REDACTED) this.isClean = false;
        this.visit(member, isSecret || isSecretKey, depth);
      }
  }

  #note(text: string): void {
    if (this.isClean && this.rules.sanitize && hasControls(text)) this.isClean = false;
  }
}

export interface MiddlewareOptions {
  /** Keys whose values are secrets; how they are written does not matter: `api_key` is `apiKey`. */
  readonly redact: readonly string[];
  /** Whether control characters other than line feeds and tabs are taken out of texts and keys. */
  readonly sanitize: boolean;
}

interface Shaped {
  /** The value given, where nothing had to be changed; else a copy. */
  readonly value: unknown;
  readonly changes: readonly Change[];
}

/** What a reply's `payload` goes through before it is wrapped (seed 003; TOOL-SECRET). */
interface ResponseMiddleware {
  /**
   * At any depth: the values of secret keys become `[redacted]`, and so does every text in which one of them appears again,
   * in a form in which it may be written; then also what is secret in `secretsFrom`, the arguments of the invocation, since
   * a secret that is echoed is the classic leak. Values of less than four characters are not looked for elsewhere.
   * @throws RangeError where the value is nested deeper than 128 levels, or holds itself; and where there are more secrets than
   * can be looked for: nothing is let through unseen.
   */
  shape(value: unknown, secretsFrom?: unknown): Shaped;
  /** What {@link shape} would change of a result that goes out verbatim. */
  wouldChange(value: unknown, secretsFrom?: unknown): readonly Change[];
}

export function responseMiddleware({ redact, sanitize }: MiddlewareOptions): ResponseMiddleware {
  const rules: Rules = { isSecret: secretKeys(redact), sanitize };
  const shape = (value: unknown, secretsFrom?: unknown): Shaped => {
    const secrets = new Secrets();
    const isClean = survey(value, rules, secrets); // first: what a caller sends must not crowd out what is ours
    survey(secretsFrom, rules, secrets);
    if (isClean && secrets.size === 0) return { value, changes: [] };
    const shaping = new Shaping(rules, secrets);
    const shaped = shaping.shape(value);
    return shaping.changes.length === 0
      ? { value, changes: [] }
      : { value: shaped, changes: shaping.changes };
  };
  return { shape, wouldChange: (value, secretsFrom) => shape(value, secretsFrom).changes };
}

/** Code of the user's that looks at what comes in and what goes out, in the order in which it is given (seed 003). */
export interface Middleware {
  /** Sees every invocation before it is carried out, however it is answered; what it throws becomes an error result. */
  onRequest?(invocation: Invocation): Invocation | undefined | Promise<Invocation | undefined>;
  /** Sees a `payload` before it is wrapped; never a `result`, which goes out verbatim. Gives the payload to send. */
  onResponse?(payload: unknown, invocation: Invocation): unknown;
}

interface MiddlewareSettings {
  readonly redact: readonly string[];
  readonly sanitize: boolean;
  /** One journal line per change made. */
  readonly audit: boolean;
}

/** The payload to send, and the changes to log. */
interface ShapedPayload {
  readonly value: unknown;
  readonly told: readonly Change[];
}

/** All that invocations and payloads go through: the user's own, then redaction and sanitising. */
export class Middlewares {
  readonly #own: ResponseMiddleware;

  constructor(
    private readonly settings: MiddlewareSettings,
    private readonly users: readonly Middleware[] = [],
  ) {
    this.#own = responseMiddleware(settings);
  }

  /** Synchronous without user code, the usual case. */
  request(invocation: Invocation): Invocation | Promise<Invocation> {
    return this.users.length === 0 ? invocation : this.#requestThroughUsers(invocation);
  }

  response(payload: unknown, invocation: Invocation): ShapedPayload | Promise<ShapedPayload> {
    if (this.users.length === 0) return this.#shape(payload, invocation);
    return this.#responseThroughUsers(payload, invocation).then(value => this.#shape(value, invocation));
  }

  /** What a result that goes out verbatim would have lost. */
  wouldChange(fields: unknown, invocation: Invocation): readonly Change[] {
    return this.#own.wouldChange(fields, invocation.arguments);
  }

  /** The texts of an error and its like: no payload, so the user's own middleware does not see them, but secrets go all the same. */
  words(text: string, invocation: Invocation): ShapedPayload & { readonly value: string } {
    const { value, told } = this.#shape(text, invocation);
    return { value: String(value), told };
  }

  #shape(payload: unknown, invocation: Invocation): ShapedPayload {
    const { value, changes } = this.#own.shape(payload, invocation.arguments);
    return { value, told: this.settings.audit ? changes : [] };
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
