import { type FullScreenOptions, fullScreen } from '../full-screen.js';
import type { LiveList } from './live-list.js';

/** Shows a live list full screen. Needs a terminal on stdin and stdout. */
export function fullScreenList<Entry, Tab extends string>(
  list: LiveList<Entry, Tab>,
  options: FullScreenOptions,
) {
  const { close } = fullScreen(
    {
      ...list,
      async load() {
        const { drawLiveList } = await import('./LiveListScreen.js');
        return drawLiveList(list);
      },
    },
    options,
  );
  return { view: list, close };
}
