import { readToolset } from '../../../protocol/read-toolset.js';
import { problemLines } from '../../../story/saved/problem-lines.js';
import { toolsetLines } from '../../../story/toolset-lines.js';
import { linesSection } from '../sheet.js';
import type { Kind } from './kind.js';

/** What discovery gives. */
export const toolsetKind: Kind = {
  name: 'a toolset',
  dialect: 'rap',
  keys: ['name', 'description', 'endpoint', 'tools', 'needsMigration'],
  isMeant: ({ tools }) => Array.isArray(tools),
  async read(json) {
    const reading = await readToolset(json);
    if (!reading.ok) return reading;
    const { toolset } = reading;
    const warnings = reading.notes.map(message => ({ message }));
    const sections = () => [linesSection(toolsetLines(toolset)), linesSection(problemLines(warnings))];
    return {
      ok: true,
      saved: { sections, report: () => ({ kind: 'toolset', toolset, warnings }), faults: [] },
    };
  },
};
