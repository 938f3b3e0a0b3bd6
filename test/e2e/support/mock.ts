import * as z from 'zod';
import type { RunOptions } from './program.js';
import { type Server, type ServerHere, startServer, startServerHere } from './server.js';

const readySchema = z.strictObject({ port: z.int(), url: z.string(), seed: z.string() });

const deliverySchema = z.looseObject({
  type: z.string().nullish(),
  url: z.string(),
  message: z.unknown(),
  delivered: z.boolean(),
  attempts: z.array(z.looseObject({ at: z.number(), status: z.number().optional() })),
});

const journalSchema = z.object({
  calls: z.array(
    z.looseObject({
      id: z.string().nullable(),
      group_id: z.string().nullable(),
      operation: z.string().nullable(),
      fixture: z.string().nullable(),
      state: z.string(),
      arrivals: z.number(),
      deliveries: z.array(deliverySchema),
      dropped: z.array(z.unknown()),
      warnings: z.array(z.string()),
    }),
  ),
  events: z.number(),
  forgotten: z.number(),
});

/** What `GET /__mock__/journal` tells. */
export type Journal = z.infer<typeof journalSchema>;

interface Journalled extends z.infer<typeof readySchema> {
  journal(): Promise<Journal>;
}

/** A built `mock-tool` that runs, piped, and said in its ready line where it is reached. */
export interface Mock extends Server, Journalled {}

/** One in this process. */
export interface MockHere extends ServerHere, Journalled {}

/** Starts `mock-tool` with these arguments. @throws Error with what it said, where it does not come up. */
export async function startMock(args: readonly string[], options?: RunOptions): Promise<Mock> {
  return journalled(await startServer(['mock-tool', ...args], readySchema, options));
}

/** The same in this process. */
export async function startMockHere(args: readonly string[], options?: RunOptions): Promise<MockHere> {
  return journalled(await startServerHere(['mock-tool', ...args], readySchema, options));
}

function journalled<Up extends z.infer<typeof readySchema>>(server: Up): Up & Journalled {
  const journal = `${server.url}/__mock__/journal`;
  return { ...server, journal: async () => journalSchema.parse(await (await fetch(journal)).json()) };
}
