/** Far more than "at once": this machine may have other work to do. */
const LIMIT_MS = 8000;

/** The 200 comes at once, before the result and with nothing in it. */
export function* acknowledgementFaults({ ack, callbacks }) {
  if (ack === null) return;
  const { status, ms, body, error } = ack;
  if (status !== 200) yield { id: 'TOOL-ACK', why: error ?? `acknowledged with ${status}` };
  if (ms > LIMIT_MS) yield { id: 'TOOL-ACK', why: `acknowledged after ${Math.round(ms)} ms` };
  if (body !== '') yield { id: 'TOOL-ASYNC', why: `the acknowledgement has a body: ${body.slice(0, 100)}` };
  const early = callbacks.findIndex(callback => callback.beforeAck);
  if (early >= 0) yield { id: 'TOOL-ACK', why: `callback ${early + 1} came before the acknowledgement` };
}
