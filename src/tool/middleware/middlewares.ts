import type { Invocation } from '../../protocol/invocation.js';
import { type Change, type ResponseMiddleware, responseMiddleware } from './middleware.js';

/** Code of the user's that looks at what comes in and what goes out, in the order in which it is given (seed 003). */
export interface Middleware {
  /** Sees every invocation before it is carried out, however it is answered; what it throws becomes an error result. */
  onRequest?(invocation: Invocation): Invocation | undefined | Promise<Invocation | undefined>;
  /** Sees a `payload` before it is wrapped; never a `result`, which goes out verbatim. Gives the payload to send. */
  onResponse?(payload: unknown, invocation: Invocation): unknown;
}

export interface MiddlewareSettings {
  readonly redact: readonly string[];
  readonly sanitize: boolean;
  /** One journal line per change made. */
  readonly audit: boolean;
}

/** The payload to send, and what to tell of the changes. */
export interface ShapedPayload {
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

  /** At once where there is no code of the user's, as nearly always. */
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
