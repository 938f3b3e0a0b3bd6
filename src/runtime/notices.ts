import { cancelToolCallUrl, closeThreadUrl } from '../protocol/addresses.js';
import type { CancelToolCall, ChoiceResponse, CloseThread } from '../protocol/notices.js';
import { type About, send, type Wire } from './wire.js';

const NOTICE_TIMEOUT_MS = 1_000;

/** Says that a thread is over. Single shot; never throws (RT-NOTIFY). */
export function closeThread(wire: Wire, base: string, thread: string): Promise<boolean> {
  const notice: CloseThread = { thread_id: thread };
  return post(wire, { purpose: 'close', attempt: 1, thread }, closeThreadUrl(base), notice);
}

/** Says that a call is no longer wanted; a result may still come. Single shot; never throws (RT-NOTIFY). */
export function cancelToolCall(
  wire: Wire,
  base: string,
  call: { key: string; thread: string; id: string },
): Promise<boolean> {
  const notice: CancelToolCall = { thread_id: call.thread, tool_call_id: call.id };
  const about: About = { purpose: 'cancel', attempt: 1, thread: call.thread, calls: [call.key] };
  return post(wire, about, cancelToolCallUrl(base), notice);
}

/** Sends the user's selection (RT-CHOICE). False where it did not arrive: the call then stays pending until its end. */
export function respondToChoice(
  wire: Wire,
  url: string,
  call: { key: string; thread: string },
  response: ChoiceResponse,
): Promise<boolean> {
  const about: About = { purpose: 'choice', attempt: 1, thread: call.thread, calls: [call.key] };
  return post(wire, about, url, response);
}

async function post(
  wire: Wire,
  about: About,
  url: string,
  message: CloseThread | CancelToolCall | ChoiceResponse,
): Promise<boolean> {
  try {
    const { status } = await send(wire, about, {
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(message)),
      read: 'nothing',
      timeoutMs: NOTICE_TIMEOUT_MS,
    });
    return status === 200;
  } catch {
    return false; // the log has it
  }
}
