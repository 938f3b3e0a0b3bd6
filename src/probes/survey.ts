import type { Content } from '../exchange/content.js';
import { readToolset } from '../protocol/read-toolset.js';
import type { Toolset } from '../protocol/toolset.js';
import { DISCOVERY_HINTS, type DiscoveryHints, findDocument, recordLoaded } from '../runtime/discover.js';
import type { Wire } from '../runtime/wire.js';

/** A tool server as it presents itself; without a toolset nothing of it may be called (RT-TOOLSET). */
export interface Survey {
  readonly base: string;
  readonly toolset: Toolset | null;
}

const HINTS: DiscoveryHints = {
  ...DISCOVERY_HINTS,
  missing:
    'A check begins with discovery: give the base URL, below which /.well-known/rap-toolset gives the toolset (TOOL-DISCOVER). A tool without one is judged by what was saved of it: protocol-cli invoke <endpoint> <operation> --endpoint --save run.ndjson, then protocol-cli check run.ndjson.',
};

/**
 * Asks a tool server what it offers. An invalid answer is an observation too, and is in the log.
 * @throws ProtocolCliError `unreachable` or `no-discovery`.
 */
export async function survey(wire: Wire, url: string): Promise<Survey> {
  const { base, body } = await findDocument(wire, url, HINTS);
  const toolset = await toolsetIn(body);
  if (toolset) recordLoaded(wire, base, toolset);
  return { base, toolset };
}

async function toolsetIn(body: Content): Promise<Toolset | null> {
  const reading = await readToolset(body.json);
  return reading.ok ? reading.toolset : null;
}
