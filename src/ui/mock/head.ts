import { cutLine } from '../../dress/cut-line.js';
import type { ToolCall } from '../../exchange/tool-call.js';
import type { Line } from '../../story/line.js';
import { quote, say } from '../../story/spans.js';
import { callName, type Tally, tallyLine } from '../../story/tool-calls/index.js';

/** The mock that is looked at. */
export interface ShownTool {
  readonly name: string;
  readonly url: string;
  readonly seed: string;
  /** How many fixtures there are. */
  readonly fixtures: number;
}

/** Cells of a name: where the mock is reached is needed more. */
const MOST_NAME = 16;

/** Where the mock is reached, and how it goes. @param read whoever reads a call on a small screen sees no list: it stands here */
export function headLines(
  tool: ShownTool,
  tally: Tally,
  isPaused: boolean,
  read?: ToolCall,
): readonly Line[] {
  const { name, url, seed, fixtures } = tool;
  const count = `${fixtures} ${fixtures === 1 ? 'fixture' : 'fixtures'}`;
  const paused = isPaused ? [say('‖ deliveries are held back', 'warn'), say(' · ', 'dim')] : [];
  return [
    [
      ...cutLine(quote(name, 'title'), MOST_NAME),
      say('  '),
      say(url, 'running'),
      ...(read ? [say('  '), ...callName(read)] : []),
    ],
    [...paused, ...tallyLine(tally), say(` · ${count} · seed `, 'dim'), ...quote(seed, 'dim')],
  ];
}

/** What to do where nothing has come yet. */
export function emptyLines({ url }: ShownTool): readonly Line[] {
  return [
    [say('No calls yet.')],
    [say('Give a runtime this URL, or try it from another terminal, by hand:', 'dim')],
    [say('  protocol-cli invoke -i ', 'dim'), say(url, 'running')],
  ];
}
