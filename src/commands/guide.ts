import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { shippedFile } from '../package-root.js';
import { guideLines } from '../render/guide.js';
import { backgroundOf } from '../render/terminal/background.js';
import { createTheme } from '../render/terminal/theme.js';
import { printed } from '../render/terminal/wrap.js';
import { writeOut } from '../system/streams.js';
import { canDraw, colourOf, type ExitStatus, type Terminal } from './terminal.js';

/** Longer rows are hard to read. */
const MAX_WIDTH = 100;

/**
 * Prints a guide: on a terminal styled and reflowed to its width, and page by page if it is longer than the screen; elsewhere as Markdown.
 * @param name of a page of src/guides
 */
export async function printGuide(name: string, terminal: Terminal): Promise<ExitStatus> {
  const { stdout, env } = terminal;
  const markdown = forTerminal(await readFile(shippedFile(`src/guides/${name}.md`), 'utf8'));
  if (stdout.isTTY !== true) {
    await writeOut(stdout, markdown);
    return 0;
  }
  const colours = {
    level: colourOf(stdout, { color: true }, terminal),
    background: backgroundOf(env),
  };
  const width = Math.min(stdout.columns, MAX_WIDTH);
  const lines = guideLines(markdown, width);
  const text = printed(lines, createTheme(colours.level, colours.background), width);
  const isLong = text.split('\n').length > stdout.rows;
  if (!isLong || !canDraw(terminal)) await writeOut(stdout, text);
  else if (env['PAGER']) await page(env['PAGER'], text, env);
  else {
    const { showFullScreen } = await import('./render/reader.js');
    return showFullScreen(name, [lines], false, colours, terminal);
  }
  return 0;
}

/** Runs the pager of the user, as git does; `less` shows colours, and ends at the end of a short text. */
async function page(command: string, text: string, env: Terminal['env']): Promise<void> {
  const pager = spawn(command, {
    shell: true,
    stdio: ['pipe', 'inherit', 'inherit'],
    env: { LESS: 'FRX', ...env },
  });
  pager.stdin.on('error', () => {}); // the user quits before the end
  pager.stdin.end(text);
  await once(pager, 'close');
}

/** Removes comments and images, and replaces links to guides by the command that prints them. */
function forTerminal(markdown: string): string {
  return markdown
    .replaceAll(/^(?:<!--.*?-->|!\[.*)\n+/gm, '')
    .replaceAll(/\[([^\]\n]+)\]\(([a-z-]+)\.md\)/g, '$1 (protocol-cli help $2)')
    .replaceAll(/\[([^\]\n]+)\]\((?:\.\.\/)+([^)\n]+)\)/g, '$1 ($2)');
}
