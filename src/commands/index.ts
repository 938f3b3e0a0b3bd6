import type { CommandEntry } from './entry.js';

/** Every command there is. A new one is one folder and one entry here. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'invoke',
    summary: 'call a tool; show what the human sees and what the LLM gets',
    load: async () => (await import('./invoke/command.js')).invokeCommand,
  },
  {
    name: 'mock-tool',
    summary: 'serve fixtures as a tool, by hand or in CI',
    load: async () => (await import('./mock-tool/command.js')).mockToolCommand,
  },
  {
    name: 'toolset',
    summary: 'fetch, validate and list the operations of a tool',
    load: async () => (await import('./toolset/command.js')).toolsetCommand,
  },
  {
    name: 'render',
    summary: 'show a saved message, result, toolset, transcript or diff',
    load: async () => (await import('./render/command.js')).renderCommand,
  },
  {
    name: 'check',
    summary: 'check a tool or a transcript against the protocol',
    load: async () => (await import('./check/command.js')).checkCommand,
  },
  {
    name: 'listen',
    summary: 'receive and show callbacks of calls that other programs make',
    load: async () => (await import('./listen/command.js')).listenCommand,
  },
  {
    name: 'record',
    summary: 'proxy between a runtime and a tool; writes a transcript',
    load: async () => (await import('./record/command.js')).recordCommand,
  },
  {
    name: 'session',
    summary: 'agent sessions: a mock platform (mock), a client (answer)',
    load: async () => (await import('./session/command.js')).sessionCommand,
  },
  {
    name: 'cancel',
    summary: 'cancel a call or a subscription',
    load: async () => (await import('./cancel/command.js')).cancelCommand,
  },
  {
    name: 'close-thread',
    summary: 'notify a tool that a conversation thread has ended',
    load: async () => (await import('./close-thread/command.js')).closeThreadCommand,
  },
  {
    name: 'migrate',
    summary: 'ask a tool to move a session to another machine',
    load: async () => (await import('./migrate/command.js')).migrateCommand,
  },
];
