import { expect, test } from 'vitest';
import type { Tool, Toolset } from '../../src/protocol/toolset.js';
import { toolsetLines } from '../../src/render/toolset.js';
import { words } from '../support/words.js';

const TOOL: Tool = { name: 'edit_file', description: 'Replace text in a file', inputSchema: {} };
const toolset = (tool: Partial<Tool> = {}): Toolset => ({
  name: 'demo',
  description: 'Tools to try',
  endpoint: 'http://127.0.0.1:3001/invoke',
  needsMigration: false,
  tools: [{ ...TOOL, ...tool }],
});
const told = (tool: Partial<Tool>) => toolsetLines(toolset(tool)).map(words).slice(3);

test('a call as its display script shows it, with names in place of texts', () => {
  const inputSchema = { properties: { path: { type: 'string' }, mode: { enum: ['fast', 'slow'] } } };
  const of = (displayScript: string) => told({ inputSchema, displayScript });
  expect(of('"Edit " + args.path + ", " + args.mode')).toContain('  shown as  Edit <path>, fast');
  expect(of('loop { }').join('\n')).not.toContain('shown as');
});

test('row 24: nothing foreign acts', () => {
  const evil = '\u001b]0;x\u0007\u202e\n';
  const inputSchema = { properties: { [evil]: { type: evil, description: evil } } };
  const lines = toolsetLines({
    ...toolset({ description: evil, inputSchema, annotations: { [evil]: evil } }),
    description: evil,
  });
  for (const line of lines) expect(words(line)).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});
