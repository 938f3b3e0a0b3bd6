import chalk from 'chalk';
import { render } from 'ink';
import type { ReactElement } from 'react';
import { type Colours, screenPaletteOf } from '../render/terminal/theme.js';
import { PaletteContext } from './components/Line.js';
import { Keyboard } from './keyboard.js';
import type { TtyStreams } from './tty.js';

/** Clears the scrollback. */
const CLEAR_SCROLLBACK = '\u001b[3J';

/** A stdout that keeps the user's scrollback, which Ink clears if the terminal becomes lower than the last frame. */
function keepingScrollback(stdout: NodeJS.WriteStream): NodeJS.WriteStream {
  const write = (text: string, ...more: [callback?: () => void]) =>
    stdout.write(text.replaceAll(CLEAR_SCROLLBACK, ''), ...more);
  return new Proxy(stdout, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (name === 'write') return write;
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

/** Draws with Ink. Listeners for `resize` from before are called before Ink draws for the new size. */
export function mount(node: ReactElement, { stdin, stdout }: TtyStreams, { level, background }: Colours) {
  chalk.level = 3; // with which Ink draws: the palette has only colours that the terminal can show
  const palette = screenPaletteOf(level, background);
  const coloured = <PaletteContext value={palette}>{node}</PaletteContext>;
  const flush = () => view.rerender(coloured); // else Ink would draw the frame for the old size once more
  stdout.on('resize', flush);
  const view = render(coloured, {
    stdin: new Keyboard(stdin) as unknown as NodeJS.ReadStream,
    stdout: keepingScrollback(stdout),
    exitOnCtrlC: false,
    patchConsole: false,
  });
  const over = view.waitUntilExit().finally(() => stdout.off('resize', flush));
  return { unmount: () => view.unmount(), over };
}
