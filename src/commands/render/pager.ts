import type { Colours } from '../../render/terminal/theme.js';
import { systemClock } from '../../system/clock.js';
import type { PagedText } from '../../tui/pager/pager.js';
import { pagerScreen } from '../../tui/pager/screen.js';
import { type ExitStatus, Interruption, type Terminal } from '../terminal.js';

/** Shows a text full screen until the user quits or a signal arrives. */
export async function showFullScreen(
  text: PagedText,
  { level, background }: Colours,
  { stdin, stdout }: Pick<Terminal, 'stdin' | 'stdout'>,
): Promise<ExitStatus> {
  const interrupted = new Interruption();
  try {
    let quit = () => {};
    const over = new Promise<void>(resolve => {
      quit = resolve;
    });
    interrupted.onSignal(quit);
    const screen = pagerScreen(text, quit, { stdin, stdout, clock: systemClock, level, background });
    await over;
    await screen.close();
    return interrupted.status ?? 0;
  } finally {
    interrupted.release();
  }
}
