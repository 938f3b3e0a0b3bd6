import { Box } from 'ink';
import type { ReactNode } from 'react';
import type { FooterHints, ScreenLayout } from '../screen/layout.js';
import type { ScreenState } from '../screen/state.js';
import { Footer } from './Footer.js';
import { Lines } from './Line.js';
import { Panel } from './Panel.js';

interface ScreenProps {
  readonly state: ScreenState<unknown>;
  readonly layout: ScreenLayout;
  /** The keys for the footer. */
  readonly hints: FooterHints;
  /** The body, in its room. */
  readonly children: ReactNode;
}

/** A screen: head, body, a question to the user, notices, footer. */
export function Screen({ state, layout, hints, children }: ScreenProps) {
  const { columns, rows } = state.size;
  const { header, question, notices } = layout;
  return (
    <Box flexDirection="column" height={Math.max(1, rows - 1)}>
      <Lines lines={header} width={columns} />
      <Box flexGrow={1} flexDirection="column">
        {children}
      </Box>
      {question && (
        <Panel title={[]} columns={columns}>
          <Lines lines={question.lines} width={columns} />
        </Panel>
      )}
      <Lines lines={notices} width={columns} />
      <Footer state={state} layout={layout} hints={hints} />
    </Box>
  );
}
