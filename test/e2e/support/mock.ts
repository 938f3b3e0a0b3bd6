import * as z from 'zod';
import { serverCommand } from './server.js';

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

const { start, startHere } = serverCommand(['mock-tool'], readySchema, ({ url }) => ({
  async journal(): Promise<Journal> {
    return journalSchema.parse(await (await fetch(`${url}/__mock__/journal`)).json());
  },
}));

export { start as startMockProcess, startHere as startMockHere };

/** A built `mock-tool` that runs, piped, and said in its ready line where it is reached. */
export type MockProcess = Awaited<ReturnType<typeof start>>;
/** One in this process. */
export type MockHere = Awaited<ReturnType<typeof startHere>>;
