import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import { shippedFile } from '../package-root.js';
import { nearest } from '../util/text.js';
import type { RunCommand } from './options.js';
import { EXIT_STATUSES, type ExitStatus } from './terminal.js';

/** @param examples command lines, by what they are for */
export function examplesText(examples: Readonly<Record<string, string>>): string {
  const blocks = Object.entries(examples).map(([about, line]) => `  # ${about}\n  ${line}`);
  return `\nExamples:\n${blocks.join('\n\n')}\n`;
}

export function exitStatusText(statuses: readonly ExitStatus[]): string {
  return `\nExit status:\n${statuses.map(status => `  ${String(status).padStart(3)}  ${EXIT_STATUSES[status]}`).join('\n')}\n`;
}

/** The last line of a command's help. */
export function guideText(guide: GuideName): string {
  return `\nGuide: protocol-cli help ${guide}\n`;
}

/** A page of src/guides, which ships with the package. No guide has the name of a command. */
export interface Guide {
  readonly name: string;
  readonly summary: string;
}

export const GUIDES = [
  { name: 'protocol', summary: 'the messages on the wire' },
  { name: 'calling', summary: 'invoke: arguments, outputs, questions, policy' },
  { name: 'workbench', summary: 'the full screen and its keys' },
  { name: 'fixtures', summary: 'the reference of fixture files' },
  { name: 'mocks', summary: 'mock-tool in tests, CI and containers' },
  { name: 'checking', summary: 'check: rules, cases, reports' },
  { name: 'recording', summary: 'record, transcripts, render, replay' },
  { name: 'sessions', summary: 'agent sessions: platform and client' },
  { name: 'mcp', summary: 'MCP servers and clients' },
  { name: 'systems', summary: 'RAP, agent sessions, LM-Kit and MCP compared' },
  { name: 'library', summary: 'protocol-cli in your own code' },
  { name: 'on-call', summary: 'a broken tool at night, step by step' },
  { name: 'security', summary: 'what is exposed, sent, saved and hidden' },
  { name: 'performance', summary: 'figures of the bench' },
] as const satisfies readonly Guide[];

export type GuideName = (typeof GUIDES)[number]['name'];

export function guidesText(guides: readonly Guide[]): string {
  const rows = guides.map(({ name, summary }) => `  ${name.padEnd(14)} ${summary}`);
  return `\nGuides (protocol-cli help <name>):\n${rows.join('\n')}\n`;
}

/** `help <topic>`, where the topic is not a command: prints the guide, or suggests names. */
export function guideCommand(
  topic: string,
  { guides, commands, run }: { guides: readonly Guide[]; commands: readonly string[]; run: RunCommand },
): Command {
  const names = guides.map(({ name }) => name);
  return new Command('help')
    .argument('<topic>')
    .helpOption(false)
    .action(async (_topic: string, _options: unknown, command: Command) => {
      if (!names.includes(topic)) {
        const [suggestion] = nearest(
          topic,
          [...commands, ...names],
          Math.max(1, Math.floor(topic.length / 3)),
        );
        command.error(
          `error: unknown command or guide '${topic}'${suggestion === undefined ? '' : `\n(Did you mean ${suggestion}?)`}\n(protocol-cli help lists the commands and guides)`,
          { code: 'commander.unknownCommand' },
        );
      }
      const text = await readFile(shippedFile(`src/guides/${topic}.md`), 'utf8');
      await run(async ({ stdout }) => {
        stdout.write(forTerminal(text));
        return 0;
      });
    });
}

/** Removes what only a web page shows: comments and pictures; a link to a guide becomes the command that prints it. */
function forTerminal(markdown: string): string {
  return markdown
    .replaceAll(/^(?:<!--.*?-->|!\[.*)\n+/gm, '')
    .replaceAll(/\[([^\]\n]+)\]\(([a-z-]+)\.md\)/g, '$1 (protocol-cli help $2)')
    .replaceAll(/\[([^\]\n]+)\]\((?:\.\.\/)+([^)\n]+)\)/g, '$1 ($2)');
}
