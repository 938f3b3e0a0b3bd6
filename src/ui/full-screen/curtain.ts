import { beforeAnyEnd } from '../../system/any-end.js';

const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';
const ENTER = `\u001b[?1049h\u001b[H${HIDE_CURSOR}`;
const LEAVE = `${SHOW_CURSOR}\u001b[?1049l`;
const WIPE = '\u001b[H\u001b[J';

export interface Curtain {
  /** Somebody else draws from here on, from the top, and calls `leave` at the end. */
  handOver(): void;
  leave(): void;
}

/**
 * The alternate screen with a first frame on it, in raw mode: what is typed from now on is a key for whoever draws later. Until
 * then the terminal is put back however the process ends.
 */
export function raiseCurtain(
  rows: readonly string[],
  { stdin, stdout }: { readonly stdin: NodeJS.ReadStream; readonly stdout: NodeJS.WriteStream },
): Curtain {
  let isUp = true;
  const leave = () => {
    if (isUp) stdout.write(LEAVE);
    isUp = false; // once more, it would move the cursor of whoever is there now
  };
  const forget = beforeAnyEnd(() => {
    stdin.setRawMode(false);
    leave();
  });
  stdin.setRawMode(true);
  stdout.write(`${ENTER}${rows.join('\n')}`);
  return {
    handOver() {
      forget();
      stdout.write(WIPE);
    },
    leave,
  };
}
