import { dressLine, wrapLine } from '../../../dress/dress.js';
import { createTheme } from '../../../dress/theme.js';
import { shareableArrival } from '../../../exchange/shareable.js';
import { heardLines, strayLine } from '../../../story/heard-lines.js';
import type { Line } from '../../../story/line.js';
import { paneLines } from '../../../story/pane-lines.js';
import { panesOf } from '../../../story/panes.js';
import { say } from '../../../story/spans.js';
import { elapsed } from '../../../story/tool-calls/elapsed.js';
import { viewPane } from '../../../story/view-pane.js';
import type { Heard } from '../heard.js';
import type { Format, FormatOptions } from './format.js';

/** The story as `invoke -o plain` tells it: a line for what came, then what the human sees and what the LLM gets. */
export function plainFormat(options: FormatOptions): Format {
  const { level, isTTY, width } = options;
  const theme = createTheme(level);
  const isTimeToTell = tellingLess();
  return {
    begin: [],
    isWhole: false,
    lines(_, heard) {
      if (!heard || !isTimeToTell(heard)) return [];
      const lines = linesOf(isTTY ? heard : shareable(heard), options);
      if (width === undefined) return lines.map(line => dressLine(line, theme));
      return lines.flatMap(line => wrapLine(line, width, theme));
    },
    lost: count => [`… ${count} that came while nobody read are not shown`],
    end: () => [],
  };
}

/** In a file or a pipe the address, which is a secret, stands there and nowhere else. */
const ON_FIRST_LINE = 'the callback_url of the first line';

function linesOf(heard: Heard, options: FormatOptions): Line[] {
  const { isTTY, callbackUrl } = options;
  if (heard.kind === 'stray')
    return [timed(heard.errand.at, strayLine(heard.errand, isTTY ? callbackUrl : ON_FIRST_LINE))];
  const [first = [], ...rest] = heardLines(heard);
  return [
    timed(heard.arrival.at, first),
    ...rest.map(line => [MARGIN, ...line]),
    ...paneBlock(heard, options),
  ];
}

const MARGIN = say(' '.repeat(9));

function timed(at: number, line: Line): Line {
  return [say(`${elapsed(at).padStart(8)} `, 'dim'), ...line];
}

/** What is drawn of it, if anything is, with an empty line around each pane. */
function paneBlock(
  { exchange, arrival, view }: Extract<Heard, { kind: 'callback' }>,
  { supports, width }: FormatOptions,
): Line[] {
  const panes = arrival.verdict.kind === 'settles' ? panesOf(exchange, supports) : null;
  const drawn = [...(panes ? [panes.human, panes.llm] : []), ...(view ? [viewPane(view)] : [])];
  if (drawn.length === 0) return [];
  const layout = { count: Number.POSITIVE_INFINITY, ...(width !== undefined && { width }) };
  return [...drawn.flatMap(pane => [[], ...paneLines(pane, layout).lines]), []];
}

/** In a file or a pipe this is a log, and URLs that give power belong before the user only (RT-OAUTH). */
function shareable(heard: Heard): Heard {
  return heard.kind === 'stray' ? heard : { ...heard, arrival: shareableArrival(heard.arrival) };
}

/** A post to a wrong address the first time, the tenth, the hundredth: a guesser must not drown the rest. */
function tellingLess(): (heard: Heard) => boolean {
  let strays = 0;
  return heard => {
    if (heard.kind === 'callback' || heard.errand.refusal !== 'wrong-address') return true;
    strays += 1;
    return Number.isInteger(Math.log10(strays));
  };
}
