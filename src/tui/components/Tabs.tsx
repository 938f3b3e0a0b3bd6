import { widthOf } from '../../render/terminal/fit.js';
import { type Choice, choicesLine } from '../layout.js';
import { Line } from './Line.js';

interface Tab {
  readonly title: string;
  readonly isChosen: boolean;
  /** The user should look at it. */
  readonly isMarked: boolean;
}

interface TabsProps {
  readonly tabs: readonly Tab[];
  readonly width: number;
}

/** The titles of tabs with their numbers; if they do not fit, the other tabs are numbers only. */
export function Tabs({ tabs, width }: TabsProps) {
  const choices = (isShort: boolean): readonly Choice[] =>
    tabs.map(({ title, isChosen, isMarked }, index) => ({
      text: `${index + 1}${isShort && !isChosen ? '' : ` ${title}`}${isMarked ? ' !' : ''}`,
      isChosen,
    }));
  const whole = choicesLine(choices(false));
  return <Line line={widthOf(whole) <= width ? whole : choicesLine(choices(true))} width={width} />;
}
