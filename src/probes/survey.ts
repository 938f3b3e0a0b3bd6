import type { Content } from '../exchange/content.js';
import { readToolset } from '../protocol/read-toolset.js';
import type { Toolset } from '../protocol/toolset.js';
import { findDocument, recordLoaded } from '../runtime/discover.js';
import type { Wire } from '../runtime/wire.js';

/** A tool server as it presents itself; without a toolset nothing of it may be called (RT-TOOLSET). */
export interface Survey {
  readonly base: string;
  readonly toolset: Toolset | null;
}

/**
 * Asks a tool server what it offers. An invalid answer is an observation too, and is in the log.
 * @throws ProtocolCliError `unreachable` or `no-discovery`.
 */
export async function survey(wire: Wire, url: string): Promise<Survey> {
  const { base, body } = await findDocument(wire, url);
  const toolset = await toolsetIn(body);
  if (toolset) recordLoaded(wire, base, toolset);
  return { base, toolset };
}

async function toolsetIn(body: Content): Promise<Toolset | null> {
  const reading = await readToolset(body.json);
  return reading.ok ? reading.toolset : null;
}
