import type { Discovery } from '../evidence/evidence.js';
import { toolsetFaults } from '../evidence/toolset-faults.js';
import { broken, held, type Observation } from '../observation.js';
import type { Rule } from '../rule.js';
import { withFaults } from './shared/faults.js';
import { OF_CALLS } from './shared/follow-ups.js';

/** TOOL-NAMES: each tool has a name of its own, in the letters that names have. */
export const namesToolsWell: Rule = {
  id: 'TOOL-NAMES',
  masks: ['TOOL-DISCOVER', ...OF_CALLS],
  absent: 'no toolset was found whose names could be judged',
  observe: ({ discoveries }) => discoveries.flatMap(onDiscovery),
};

function onDiscovery(discovery: Discovery): readonly Observation[] {
  const { names } = toolsetFaults(discovery);
  if (names.length > 0)
    return [broken('the names of tools are not valid, or not unique', [discovery], withFaults(names))];
  return discovery.reading?.ok ? [held([discovery])] : [];
}
