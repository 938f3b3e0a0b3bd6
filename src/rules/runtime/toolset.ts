import { excerpt } from '../../text/excerpt.js';
import type { CallEvidence, Discovery, Evidence } from '../evidence/evidence.js';
import { broken, held, lacking, type Observation } from '../observation.js';
import type { Rule } from '../rule.js';

/** RT-TOOLSET: of a toolset with a fault nothing is called, nor a name that two toolsets define. */
export const loadsToolsetsWhole: Rule = {
  id: 'RT-TOOLSET',
  absent: 'no toolset in it was invalid, and no two define the same name',
  observe: (evidence: Evidence) => [...onInvalid(evidence), ...onDuplicates(evidence)],
};

function onInvalid({ discoveries, calls }: Evidence): Observation[] {
  const invalid = discoveries.filter(({ reading }) => reading?.ok === false);
  if (invalid.length === 0 || discoveries.some(({ reading }) => reading?.ok)) return [];
  const called = calls.flatMap(({ attempts }) => attempts.slice(0, 1));
  return [
    called.length > 0
      ? lacking('an operation of an invalid toolset was called', [...invalid, ...called.slice(0, 1)])
      : held(invalid),
  ];
}

function onDuplicates({ discoveries, calls }: Evidence): Observation[] {
  return [...doubleNames(discoveries)].map(([name, proof]) => {
    const called = calls.find(call => isOf(name, call));
    const what = `${excerpt(name)} is defined by two toolsets, and was called`;
    return called ? broken(what, [...proof, ...called.attempts]) : held(proof);
  });
}

/** The same server that is asked again is no second toolset. */
function doubleNames(discoveries: readonly Discovery[]): ReadonlyMap<string, readonly Discovery[]> {
  const owners = new Map<string, Discovery>();
  const doubles = new Map<string, readonly Discovery[]>();
  for (const discovery of discoveries)
    for (const name of namesIn(discovery)) {
      const owner = owners.get(name);
      if (!owner) owners.set(name, discovery);
      else if (owner.request.url !== discovery.request.url) doubles.set(name, [owner, discovery]);
    }
  return doubles;
}

function namesIn({ reading }: Discovery): string[] {
  return reading?.ok ? reading.toolset.tools.map(({ name }) => name) : [];
}

function isOf(name: string, { reading }: CallEvidence): boolean {
  return reading.ok && reading.invocation.operation === name;
}
