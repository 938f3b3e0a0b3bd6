import { Box } from 'ink';
import { type ReactNode, useEffect } from 'react';
import {
  type LaidPart,
  layOutSheet,
  type ReadingState,
  type SheetPlace,
  sheetSeen,
  visiblePart,
} from '../reading/sheet.js';
import { Line, Lines } from './Line.js';

export interface SheetProps {
  readonly reading: ReadingState;
  readonly place: SheetPlace;
  /** Called if the state has to remember, with {@link sheetSeen}, what is now visible. */
  readonly onSeen: (place: SheetPlace) => void;
}

/** The parts of a sheet, side by side or stacked. */
export function Sheet({ reading, place, onSeen }: SheetProps) {
  const { isBeside, slots } = layOutSheet(reading, place);
  useEffect(() => {
    if (sheetSeen(reading, place) !== reading) onSeen(place);
    for (const { index } of slots) place.sheet[index]?.onDrawn?.();
  }); // after each drawing: parts grow without new props
  return (
    <Box flexDirection={isBeside ? 'row' : 'column'} columnGap={1}>
      {slots.map((part, nth) => {
        const reader = <Reader key={part.index} part={part} isBeside={isBeside} />;
        return isBeside && nth > 0 ? <Ruled key={part.index}>{reader}</Ruled> : reader;
      })}
    </Box>
  );
}

/** Draws a line to the left. */
function Ruled({ children }: { readonly children: ReactNode }) {
  return (
    <Box
      borderStyle="single"
      borderDimColor
      borderTop={false}
      borderRight={false}
      borderBottom={false}
      paddingLeft={1}
    >
      {children}
    </Box>
  );
}

interface ReaderProps {
  readonly part: LaidPart;
  /** There are other parts beside it. */
  readonly isBeside: boolean;
}

/** A window of a long text, with its heading and the reading position. */
export function Reader({ part, isBeside }: ReaderProps) {
  const { columns, rows: height } = part.view.size;
  const { heading, status, rows } = visiblePart(part);
  return (
    <Box flexDirection="column" {...(isBeside && { width: columns })}>
      <Box justifyContent="space-between">
        <Line line={heading} width={columns} />
        {status.length > 0 && <Line line={status} width={columns} />}
      </Box>
      <Lines lines={rows} width={columns} height={height} />
    </Box>
  );
}
