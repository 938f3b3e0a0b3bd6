import type { Theme } from '../../dress/theme.js';
import type { Line } from '../../story/line.js';
import { type Plan, planOf as planAround } from '../full-screen/plan.js';
import { promptLine } from '../prompt/line.js';
import type { Size } from '../terminal.js';
import { askedBy } from './overlays/rows.js';
import { footLine, type Matters, PROMPTS } from './pages/foot.js';
import { type Heading, headLine } from './pages/head.js';
import type { State } from './state/state.js';

/** Everything around the page. */
export interface Surroundings {
  readonly state: State;
  readonly heading: Heading;
  readonly notices: readonly Line[];
  readonly matters: Matters;
}

/** How much room there is for the page. */
export function planOf({ state, heading, notices, matters }: Surroundings, size: Size, theme: Theme): Plan {
  const { columns } = size;
  return planAround(
    {
      head: [headLine(heading, columns)],
      notices,
      asked: room => askedBy(state.overlay, room, theme),
      foot: bottomLine(state, matters, columns),
    },
    size,
    theme,
  );
}

function bottomLine(state: State, matters: Matters, columns: number): Line {
  const { overlay } = state;
  if (overlay?.kind !== 'prompt') return footLine(state, matters, columns);
  return promptLine(PROMPTS[overlay.prompt.purpose], overlay.prompt, columns);
}
