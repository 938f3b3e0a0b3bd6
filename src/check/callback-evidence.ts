import { Content } from '../events/content.js';
import type { Verdict } from '../events/exchange.js';
import { RoundTrip } from '../events/round-trips.js';
import {
  type Callback,
  type CallbackReading,
  type CallbackType,
  readCallback,
  SECRET_URLS,
} from '../protocol/callbacks.js';
import { mediaTypeOf } from '../util/headers.js';
import { isRecord } from '../util/values.js';

/** A text in a message, and its place: `text`, `display_as[0].content.patch`. */
interface PlacedText {
  readonly place: string;
  readonly path: readonly (string | number)[];
  readonly text: string;
}

/** Members that have no text for a model or a person. */
const NOT_TEXT = new Set<string>(['type', 'group_id', 'id', 'call_id', 'tool_call_id', ...SECRET_URLS]);

export class CallbackEvidence extends RoundTrip {
  /** Null if the callback was refused before its body was read. */
  readonly reading: CallbackReading | null;
  readonly message: Callback | null;
  /** Equal for messages with the same content, even in other bytes; null without a body. */
  readonly fingerprint: string | null;

  /** @param verdict what the callback means for its call; null if it belongs to none */
  constructor(
    { request, end }: RoundTrip,
    readonly verdict: Verdict | null,
  ) {
    super(request, end);
    const { body } = request;
    this.reading = body ? readCallback(body.json) : null;
    this.message = this.reading?.ok ? this.reading.message : null;
    this.fingerprint = (this.message ? Content.ofJson(this.message) : body)?.sha256 ?? null;
  }

  /** The `type` of the body, valid or not. */
  get typeName(): string | null {
    return this.request.body?.messageType ?? null;
  }

  /** Whether it was posted to an address that belongs to no call. */
  get isMisdirected(): boolean {
    return this.request.method === 'POST' && (this.response?.refusal ?? 'wrong-address') === 'wrong-address';
  }

  get hasJsonType(): boolean {
    return mediaTypeOf(this.request.headers['content-type'] ?? '') === 'application/json';
  }

  /** Its texts for a model or a person. */
  get texts(): readonly PlacedText[] {
    const message = this.reading?.ok && isRecord(this.reading.native) ? this.reading.native : {};
    return Object.entries(message).flatMap(([name, value]) =>
      NOT_TEXT.has(name) ? [] : textsIn(value, [name]),
    );
  }

  equals(other: CallbackEvidence): boolean {
    return this.fingerprint !== null && this.fingerprint === other.fingerprint;
  }
}

/** A valid callback. */
export interface ReceivedCallback<Type extends CallbackType = CallbackType> {
  readonly callback: CallbackEvidence;
  readonly message: Extract<Callback, { type: Type }>;
}

function textsIn(value: unknown, path: PlacedText['path']): PlacedText[] {
  if (typeof value === 'string') {
    const steps = path.map(step => (typeof step === 'number' ? `[${step}]` : `.${step}`));
    return [{ place: steps.join('').slice(1), path, text: value }];
  }
  if (Array.isArray(value)) return value.flatMap((item, index) => textsIn(item, [...path, index]));
  if (!isRecord(value)) return [];
  const isImage = 'mediaType' in value;
  return Object.entries(value).flatMap(([name, member]) =>
    isImage && name === 'data' ? [] : textsIn(member, [...path, name]),
  );
}
