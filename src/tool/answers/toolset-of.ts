import { ProtocolCliError } from '../../errors.js';
import type { FixtureSet } from '../../fixtures/fixture-set.js';
import { readToolset } from '../../protocol/read-toolset.js';
import type { Tool } from '../../protocol/toolset.js';
import type { ToolDefinition } from '../handlers/define-tool.js';
import type { ToolsetFields } from './operations.js';

/** What is offered by fixtures and handlers together; where both have an operation, it is the handler's. */
export function toolsetOf({ toolset }: FixtureSet, handlers: readonly ToolDefinition[]): ToolsetFields {
  const own = handlers.map(toolOf);
  const names = new Set(own.map(({ name }) => name));
  const others = toolset.tools.filter(({ name }) => !names.has(name));
  const { name, description, needsMigration } = toolset;
  const about = description === undefined ? {} : { description };
  return { name, ...about, needsMigration, tools: [...own, ...others] };
}

/** @throws ProtocolCliError `invalid-toolset`, with every fault: a bad name, one that is there twice, a schema that is none. */
export async function requireSound(toolset: ToolsetFields): Promise<ToolsetFields> {
  const value = { ...toolset, endpoint: 'http://127.0.0.1/' };
  const reading = await readToolset({ ok: true, value, notes: [] });
  if (reading.ok) return toolset;
  throw new ProtocolCliError('invalid-toolset', 'the toolset is not valid', {
    faults: reading.faults,
    hint: 'Every operation needs a name of its own (A–Z a–z 0–9 _ -), a description and a JSON Schema.',
  });
}

function toolOf({ handle: _, ...tool }: ToolDefinition): Tool {
  return { ...tool };
}
