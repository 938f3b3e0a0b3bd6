import type { CommandEntry } from './entry.js';

/** Every command there is. A new one is one folder and one entry here. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'invoke',
    summary: 'call a tool, catch its callback, show what the human sees beside what the LLM gets',
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
    summary: 'judge a tool, or what a transcript shows, by the protocol',
    load: async () => (await import('./check/command.js')).checkCommand,
  },
  {
    name: 'listen',
    summary: 'stay and show the callbacks of calls that somebody else makes',
    load: async () => (await import('./listen/command.js')).listenCommand,
  },
  {
    name: 'record',
    summary: 'a proxy between a runtime and a tool that writes down what they say',
    load: async () => (await import('./record/command.js')).recordCommand,
  },
  {
    name: 'session',
    summary: 'agent sessions: be the platform of one (mock), or its client (answer)',
    load: async () => (await import('./session/command.js')).sessionCommand,
  },
  {
    name: 'cancel',
    summary: 'tell a tool that a call, or its subscription, is no longer wanted',
    load: async () => (await import('./cancel/command.js')).cancelCommand,
  },
  {
    name: 'close-thread',
    summary: 'tell a tool that a conversation thread is over',
    load: async () => (await import('./close-thread/command.js')).closeThreadCommand,
  },
  {
    name: 'migrate',
    summary: "tell a tool to move a session's state to another machine",
    load: async () => (await import('./migrate/command.js')).migrateCommand,
  },
];
