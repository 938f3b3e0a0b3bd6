import * as z from 'zod';
import { ask } from './http.js';
import type { RunOptions } from './program.js';
import { type Server, type ServerHere, startServer, startServerHere } from './server.js';

const readySchema = z.strictObject({ port: z.int(), url: z.string(), callback_url: z.string() });

interface Posts extends z.infer<typeof readySchema> {
  /** Posts a callback; resolves to the status of the answer. */
  post(message: object | string | Uint8Array): Promise<number>;
}

/** A running `listen`, in this process. */
export interface ListeningHere extends ServerHere, Posts {}

/** Starts `listen` as a process. */
export async function startListening(
  args: readonly string[] = [],
  options?: RunOptions,
): Promise<Server & Posts> {
  return posting(await startServer(['listen', ...args], readySchema, options));
}

/** The same in this process. */
export async function startListeningHere(
  args: readonly string[] = [],
  options?: RunOptions,
): Promise<ListeningHere> {
  return posting(await startServerHere(['listen', ...args], readySchema, options));
}

function posting<Up extends z.infer<typeof readySchema>>(server: Up): Up & Posts {
  const post = async (message: object | string | Uint8Array) => {
    const isRaw = typeof message === 'string' || message instanceof Uint8Array;
    const body = isRaw ? message : JSON.stringify(message);
    return (await ask(server.callback_url, { body })).status;
  };
  return { ...server, post };
}
