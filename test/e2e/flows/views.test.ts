import { describe, expect, it } from 'vitest';
import { flowTools } from '../support/flow-tools.js';
import { argv } from '../support/program.js';
import { invokeJsonHere, verdicts, warningIds } from '../support/report.js';

/** RT-VIEW: the latest view of each type; empty content clears it, an unknown type is ignored. */
const tool = flowTools('plain', 'mock', 'odd');

describe.concurrent.each(['plain', 'mock'] as const)('views, of %s', name => {
  it('each update replaces the view', async () => {
    const { status, report } = await invokeJsonHere(argv`${tool(name).url} paint`);
    expect(status).toBe(0);
    expect(report.llm?.text).toBe('Painted');
    expect(report.views).toEqual([
      {
        type: 'diff',
        updates: 3,
        content: expect.objectContaining({ patch: expect.stringContaining('+three') }),
      },
    ]);
    expect(verdicts(report)).toEqual(['noted 200', 'noted 200', 'noted 200', 'settles 200']);
    expect(warningIds(report)).toEqual([]);
  });

  it('empty content clears the view', async () => {
    const { report } = await invokeJsonHere(argv`${tool(name).url} paint afterwards=clear`);
    expect(report.views).toEqual([]);
    expect(verdicts(report)).toEqual([...Array(4).fill('noted 200'), 'settles 200']);
  });
});

describe.concurrent.each(['odd', 'mock'] as const)('views of an unknown type, of %s', name => {
  it('are kept unchanged', async () => {
    const { status, report } = await invokeJsonHere(argv`${tool(name).url} unknown_view`);
    expect(status).toBe(0);
    expect(report.llm?.text).toBe('unknown_view done');
    expect(verdicts(report)).toEqual(['noted 200', 'settles 200']);
    expect(report.views).toEqual([{ type: 'hologram', content: { rays: 3 }, updates: 1 }]);
  });
});
