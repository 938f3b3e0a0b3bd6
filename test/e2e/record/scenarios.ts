import * as z from 'zod';
import type { PythonRuntime } from '../support/python-runtime.js';

const callbackSchema = z.object({ body: z.record(z.string(), z.unknown()) });
const outcomeSchema = z.object({
  acks: z.array(z.number().nullable()),
  callbacks: z.array(callbackSchema),
  notices: z.array(z.object({ what: z.string(), status: z.number() })),
  faults: z.array(z.unknown()),
});

/** What the runtime on Python's standard library says of some scenarios, lived one after the other; ids and URLs aside. */
export async function scenariosOf(
  runtime: PythonRuntime,
  url: string,
  scenarios: readonly string[],
): Promise<readonly string[]> {
  const told: string[] = [];
  for (const scenario of scenarios) {
    const { stdout } = await runtime(url, scenario);
    const { callbacks, ...outcome } = outcomeSchema.parse(JSON.parse(stdout));
    told.push(`${scenario}: ${JSON.stringify(outcome)}`, ...callbacks.map(sayingOf));
  }
  return told;
}

const OWN = ['id', 'call_id', 'group_id', 'tool_call_id', 'response_url', 'auth_url'];

function sayingOf({ body }: z.infer<typeof callbackSchema>): string {
  const entries = Object.entries(body).filter(([name]) => !OWN.includes(name));
  return JSON.stringify(Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1))));
}
