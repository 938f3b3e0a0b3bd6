import { readToolset, type ToolsetReading } from '../../protocol/read-toolset.js';
import type { Tool, Toolset } from '../../protocol/toolset.js';
import type { Discovery } from './evidence.js';
import { type Leg, statusOf } from './leg.js';

/** Every time a toolset was asked for, and what came. */
export function discoveriesOf(legs: readonly Leg[]): Promise<readonly Discovery[]> {
  const known = new Map<string, Promise<ToolsetReading>>();
  return Promise.all(
    legs.filter(({ request }) => request.purpose === 'discovery').map(leg => discoveryOf(leg, known)),
  );
}

/** @param known by digest: the same document is read, and its schemas are compiled, once */
async function discoveryOf(leg: Leg, known: Map<string, Promise<ToolsetReading>>): Promise<Discovery> {
  const body = statusOf(leg) === 200 ? leg.response?.body : undefined;
  if (!body) return { ...leg, reading: null };
  const reading = known.get(body.sha256) ?? readToolset(body.json);
  known.set(body.sha256, reading);
  return { ...leg, reading: await reading };
}

/** The toolsets that were known at a time, latest last. */
export function toolsetsAt(discoveries: readonly Discovery[], at: number): readonly Toolset[] {
  return discoveries.flatMap(({ reading, response }) =>
    reading?.ok && (response?.at ?? 0) <= at ? [reading.toolset] : [],
  );
}

export function toolNamed(toolsets: readonly Toolset[], name: string): Tool | null {
  return toolsets.flatMap(({ tools }) => tools).findLast(tool => tool.name === name) ?? null;
}
