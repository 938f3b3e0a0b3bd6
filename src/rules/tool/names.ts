import type { Discovery } from '../evidence/evidence.js';
import { toolsetFaults, toolsetNotes } from '../evidence/toolset-faults.js';
import { broken, doubtful, held, type Observation } from '../observation.js';
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
  if (!discovery.reading?.ok) return [];
  const { names: odd } = toolsetNotes(discovery);
  const what = 'clients may refuse the names of tools';
  return [odd.length > 0 ? doubtful(what, [discovery], withFaults(odd)) : held([discovery])];
}
