import * as z from 'zod/mini';
import { Content } from '../events/content.js';
import { RecordedRequest } from '../events/log.js';
import { checkValue } from '../json-schema/validator.js';
import { messageOf } from '../util/errors.js';
import { excerpt, joinFirst } from '../util/text.js';
import type { Fields, FormQuestion, FormReply } from './conversation.js';
import type { OpenCall } from './open-call.js';

/** The MCP client of a call. */
export interface LocalClient {
  /** Sends a notification; resolves to why it was not sent, or to null. */
  notify(method: string, params: Fields): Promise<string | null>;
  /** Asks the user to fill in a form. Rejects if the client refuses. Null for a client without forms. */
  readonly elicit: ((form: FormQuestion, signal: AbortSignal) => Promise<unknown>) | null;
}

export const CANCELED_FORM: FormReply = { action: 'cancel', content: {} };

export const ELICIT = 'elicitation/create';

/** The parameters of the request that asks a form. */
export const elicitParams = ({ message, requestedSchema }: FormQuestion) => ({
  mode: 'form',
  message,
  requestedSchema,
});

const object = z.record(z.string(), z.unknown());

const notificationSchema = z.strictObject({
  jsonrpc: z.optional(z.literal('2.0')),
  method: z.string(),
  params: z.optional(object),
});

/** The notification of MCP that a message of a fixture is; null if it is none. */
export function notificationIn(
  message: unknown,
): { readonly method: string; readonly params: Fields } | null {
  const read = notificationSchema.safeParse(message);
  return read.success ? { method: read.data.method, params: read.data.params ?? {} } : null;
}

const answerSchema = z.object({
  action: z.enum(['accept', 'decline', 'cancel']),
  content: z.optional(object),
});

const MAX_FAULTS = 5;

/** Sends the messages of one call to its MCP client, and records them as callbacks. */
export class ClientMessages {
  constructor(
    private readonly call: OpenCall,
    private readonly client: LocalClient,
    private readonly url: string,
  ) {}

  get hasForms(): boolean {
    return this.client.elicit !== null;
  }

  /** Sends a notification; drops any other message. */
  async notify(message: unknown): Promise<void> {
    const notification = notificationIn(message);
    if (!notification) return;
    const { method, params } = notification;
    const recorded = this.#record(method, params);
    const problem = await this.client.notify(method, params).catch(messageOf);
    if (problem === null) return recorded.recordResponse(202);
    recorded.recordBroken('request', 'NOT_SENT');
    this.call.warn(`${method} was not sent: ${problem}`);
  }

  /**
   * Asks a form. A form that the client cannot show, refuses, or answers wrongly counts as canceled, and as not delivered.
   * @param withinMs default: no limit
   */
  async ask(form: FormQuestion, withinMs: number | undefined): Promise<FormReply | null> {
    const { call, client } = this;
    if (!client.elicit) return this.#undelivered('the client does not support forms (elicitation)');
    const recorded = this.#record(ELICIT, elicitParams(form));
    const given = client.elicit(form, call.signal).then(
      answer => ({ answer, refusal: null }),
      (error: unknown) => ({ answer: null, refusal: messageOf(error) }),
    );
    const answered = await call.answerWithin(given, withinMs);
    if (answered === null) {
      recorded.recordBroken('answer', call.isCanceled ? 'CANCELLED' : 'TIMEOUT');
      return null;
    }
    const { answer, refusal } = answered;
    if (refusal !== null) {
      recorded.recordBroken('answer', 'REFUSED');
      return this.#undelivered(`the client refused the form: ${excerpt(refusal)}`);
    }
    recorded.recordResponse(200, { body: Content.ofJson(answer ?? null) });
    return this.#judged(form, answer);
  }

  async #judged({ requestedSchema }: FormQuestion, answer: unknown): Promise<FormReply> {
    const read = answerSchema.safeParse(answer);
    if (!read.success) return this.#undelivered('the answer to the form has no valid action');
    const { action, content = {} } = read.data;
    if (action !== 'accept') return { action, content: {} };
    const check = await checkValue(requestedSchema, content);
    if (check.kind !== 'invalid') return { action, content };
    const faults = check.faults.map(({ path, message }) => `${path} ${message}`);
    return this.#undelivered(`the answer does not fit the form: ${joinFirst(faults, MAX_FAULTS)}`);
  }

  #undelivered(why: string): FormReply {
    const { log, about } = this.call;
    log.emit({ kind: 'dropped', what: 'callback', type: ELICIT, why, count: 1, ...about });
    return CANCELED_FORM;
  }

  #record(method: string, params: Fields): RecordedRequest {
    const { log, about } = this.call;
    const route = { from: 'tool', to: 'client', purpose: 'callback', dialect: 'mcp' } as const;
    const body = Content.ofJson(params);
    return new RecordedRequest(log, { ...route, method, url: this.url, headers: {}, body, ...about });
  }
}
