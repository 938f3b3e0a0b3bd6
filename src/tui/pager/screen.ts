import type { Mounted } from '../FullScreen.js';
import { type FullScreenOptions, fullScreen } from '../full-screen.js';
import { createPager, type PagedText } from './pager.js';

/** Shows a long text full screen. Needs a terminal on stdin and stdout. @param onQuit called for `q`, Esc or Ctrl-C */
export function pagerScreen(text: PagedText, onQuit: () => void, options: FullScreenOptions): Mounted {
  const pager = createPager(text, onQuit);
  return fullScreen(
    {
      ...pager,
      layout: () => ({ header: [] }),
      async load() {
        const { drawPager } = await import('./PagerScreen.js');
        return drawPager(pager);
      },
    },
    options,
  );
}
