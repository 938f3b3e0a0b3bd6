import { Content } from '../../../exchange/content.js';
import type { CallbackDelivery, ToolCall } from '../../../exchange/tool-call.js';
import { type CallbackReading, readCallback } from '../../../protocol/callbacks/read.js';
import { secretsOf } from '../../../story/tool-calls/index.js';
import { decodeUtf8 } from '../../../text/json.js';

/** What a callback says to a runtime, without the secrets of callback URLs, which it may name. */
export function messageIn({ body }: CallbackDelivery, call: ToolCall): CallbackReading {
  const text = body && decodeUtf8(body.bytes);
  return readCallback(new Content(Buffer.from(secretsOf(call).text(text ?? ''))).json);
}
