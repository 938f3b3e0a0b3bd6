import { Box, Text, type TextProps } from 'ink';
import { createContext, useContext } from 'react';
import type { Line as Spans } from '../../render/line.js';
import { cutLine } from '../../render/terminal/fit.js';
import {
  type Palette,
  paletteOf,
  type Style,
  styleOf,
  withoutCommands,
} from '../../render/terminal/theme.js';

/** The colours of the screen. */
export const PaletteContext = createContext<Palette>(paletteOf(0));

interface LineProps {
  readonly line: Spans;
  /** In cells; a longer line is cut. */
  readonly width: number;
}

/** A line of text. Spans with tones become styled texts; an empty line still takes a row. */
export function Line({ line, width }: LineProps) {
  const spans = cutLine(withoutCommands(line), width).filter(({ text }) => text !== '');
  return (
    <Text wrap="truncate">
      {spans.length === 0 ? ' ' : spans.map((span, index) => <StyledSpan key={String(index)} {...span} />)}
    </Text>
  );
}

function StyledSpan({ text, ...span }: Spans[number]) {
  const style = styleOf(span, useContext(PaletteContext));
  return Object.keys(style).length === 0 ? text : <Text {...textProps(style)}>{text}</Text>;
}

interface LinesProps {
  readonly lines: readonly Spans[];
  readonly width: number;
  /** In rows; all lines by default. */
  readonly height?: number;
}

export function Lines({ lines, width, height = lines.length }: LinesProps) {
  if (height === 0) return null;
  return (
    <Box flexDirection="column" flexShrink={0} height={height}>
      {lines.map((line, index) => (
        <Line key={String(index)} line={line} width={width} />
      ))}
    </Box>
  );
}

function textProps({ color, background, isBold, isDim, isUnderlined, isInverse }: Style): TextProps {
  return {
    ...(color !== undefined && { color }),
    ...(background !== undefined && { backgroundColor: background }),
    bold: isBold ?? false,
    dimColor: isDim ?? false,
    underline: isUnderlined ?? false,
    inverse: isInverse ?? false,
  };
}
