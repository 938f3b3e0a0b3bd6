import { readToolset } from '../../protocol/read-toolset.js';
import type { Tool, Toolset } from '../../protocol/toolset.js';
import type { Discovery } from './evidence.js';
import { type Leg, statusOf } from './leg.js';

/** Every time a toolset was asked for, and what came. */
export function discoveriesOf(legs: readonly Leg[]): Promise<readonly Discovery[]> {
  return Promise.all(legs.filter(({ request }) => request.purpose === 'discovery').map(discoveryOf));
}

async function discoveryOf(leg: Leg): Promise<Discovery> {
  const body = statusOf(leg) === 200 ? leg.response?.body : undefined;
  return { ...leg, reading: body ? await readToolset(body.json) : null };
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
