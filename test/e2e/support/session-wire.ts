import * as z from 'zod';

/** Bodies of the agent-session API, as far as tests look at them, and those that they send. */

const changesSchema = z.looseObject({
  status: z.string(),
  answer: z.unknown(),
  new_events: z.array(z.looseObject({ type: z.string(), data: z.unknown(), timestamp: z.string() })),
});

const stateSchema = z.looseObject({
  type: z.literal('ActiveStateChangeEvent'),
  data: z.object({ state: z.string(), pending_tool_calls: z.array(z.unknown()).default([]) }),
});

const refusalSchema = z.object({
  detail: z.array(
    z.strictObject({
      type: z.string(),
      loc: z.array(z.union([z.string(), z.number()])),
      msg: z.string(),
      input: z.unknown(),
    }),
  ),
});

interface WithJson {
  readonly json: unknown;
}

export type Changes = z.infer<typeof changesSchema>;

/** @throws where it is not an answer to `changes`. */
export function readChanges({ json }: WithJson): Changes {
  return changesSchema.parse(json);
}

export function readStatus({ json }: WithJson): string {
  return z.object({ status: z.string() }).parse(json).status;
}

/** The events that tell a state, and what is pending in it. */
export function statesIn({ new_events }: Changes): z.infer<typeof stateSchema>[] {
  return new_events.flatMap(event => stateSchema.safeParse(event).data ?? []);
}

/** The id of the session that was created. @throws where none was. */
export function idIn({ json }: WithJson): string {
  return z.object({ id: z.string() }).parse(json).id;
}

/** What a 422 says is wrong. @throws where it says nothing of the kind. */
export function detailsIn({ json }: WithJson): z.infer<typeof refusalSchema>['detail'] {
  return refusalSchema.parse(json).detail;
}

export const success = (tool_req: object, result: unknown = 'shipped') => ({
  kind: 'tool_result',
  tool_req,
  result,
});

export const failure = (tool_req: object, error = 'Order not found') => ({
  kind: 'error_event',
  error,
  origin: 'custom_tools',
  tool_req,
});

export const batch = (...results: unknown[]) => ({ type: 'batch', results });
