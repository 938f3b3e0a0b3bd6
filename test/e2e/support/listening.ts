import * as z from 'zod';
import { ask } from './http.js';
import { serverCommand } from './server.js';

const readySchema = z.strictObject({ port: z.int(), url: z.string(), callback_url: z.string() });

const { start, startHere } = serverCommand(['listen'], readySchema, ({ callback_url }) => ({
  /** Posts a callback; resolves to the status of the answer. */
  async post(message: object | string | Uint8Array): Promise<number> {
    const isRaw = typeof message === 'string' || message instanceof Uint8Array;
    return (await ask(callback_url, { body: isRaw ? message : JSON.stringify(message) })).status;
  },
}));

export { start as startListening, startHere as startListeningHere };

/** A running `listen`, in this process. */
export type ListeningHere = Awaited<ReturnType<typeof startHere>>;
