import type { BrokenTool, BrokenTools } from './broken-tool.js';
import { type Fields, isFields } from './fields.js';
import type { Answer } from './front.js';
import { startTwisted } from './good.js';

/** What is wrong with a server beside its calls. */
export const servers: BrokenTools = {
  'TOOL-CANCEL': [answering('/cancel_tool_call', { status: 404 }, /\/cancel_tool_call answered 404/)],
  'TOOL-CLOSE': [
    answering('/close_thread', { status: 204 }, /\/close_thread answered 204/),
    answering('/close_thread', { status: 200, body: 'closed' }, /answered 200 with a body/),
  ],
  'TOOL-DISCOVER': [
    offering('has no endpoint', ({ endpoint, ...toolset }) => toolset, /invalid toolset: /),
    offering('offers nothing', toolset => ({ ...toolset, tools: [] }), /invalid toolset: /),
  ],
  'TOOL-NAMES': [
    offering('has a name twice', named('read'), /read/),
    offering('has a name that is invalid', named('read all'), /may hold only/),
  ],
  'TOOL-MIGRATE': [
    migrating('has no /migrate', { status: 404 }, /\/migrate is missing/),
    migrating('moves what is not there', { status: 200 }, /\/migrate answered 200 to an invalid request/),
  ],
};

function answering(path: string, answer: Answer, says: RegExp): BrokenTool {
  const { status, body = 'nothing' } = answer;
  const answers = (to: string) => (to === path ? answer : undefined);
  return { does: `answers ${status} with ${body}`, start: () => startTwisted({ answers }), says };
}

function offering(does: string, toolset: (toolset: Fields) => Fields, says: RegExp): BrokenTool {
  return { does, start: () => startTwisted({ toolset }), says };
}

function named(name: string): (toolset: Fields) => Fields {
  return toolset => {
    const tools = Array.isArray(toolset['tools']) ? toolset['tools'].filter(isFields) : [];
    return { ...toolset, tools: tools.map(tool => ({ ...tool, ...(tool['name'] === 'odd' && { name }) })) };
  };
}

function migrating(does: string, answer: Answer, says: RegExp): BrokenTool {
  const toolset = (offered: Fields) => ({ ...offered, needsMigration: true });
  const answers = (path: string) => (path === '/migrate' ? answer : undefined);
  return { does, start: () => startTwisted({ toolset, answers }), says };
}
