import { say } from '../../render/line.js';
import { widthOf } from '../../render/terminal/fit.js';
import { inputLine, type TextInput } from '../text-input.js';
import { Line } from './Line.js';

/** Fewer cells show nothing of the text. */
const MIN_WIDTH = 4;

interface PromptProps {
  readonly label: string;
  readonly input: TextInput;
  /** Of the row, in cells. */
  readonly width: number;
}

/** A line to type in: its label, then the part of the text around the cursor. */
export function Prompt({ label, input, width }: PromptProps) {
  const title = say(label, 'title');
  const room = Math.max(MIN_WIDTH, width - widthOf([title]));
  return <Line line={[title, ...inputLine(input, room)]} width={width} />;
}
