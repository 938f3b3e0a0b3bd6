import { Box, Text } from 'ink';
import { expect, test } from 'vitest';
import { say } from '../../../src/render/line.js';
import { Panel } from '../../../src/tui/components/Panel.js';
import { rowsOf } from '../drawn.js';

test('a panel has its title in the upper edge', () => {
  const panel = (
    <Panel title={[say('Calls 1/2')]} columns={20}>
      <Text>body</Text>
    </Panel>
  );
  expect(rowsOf(panel, 20)).toEqual(['── Calls 1/2 ───────', 'body']);
});

test('a long title is cut, so that the edge is visible at both of its ends', () => {
  const panel = (
    <Panel title={[say('a very long title')]} columns={20}>
      <Text>body</Text>
    </Panel>
  );
  expect(rowsOf(panel, 20)[0]).toBe('── a very long… ────');
});

test('a panel without a title has a whole edge, or none', () => {
  const panel = (title: [] | null) => (
    <Panel title={title} columns={8}>
      <Text>body</Text>
    </Panel>
  );
  expect(rowsOf(panel([]), 8)).toEqual(['────────', 'body']);
  expect(rowsOf(panel(null), 8)).toEqual(['body']);
});

test('panels side by side share an edge', () => {
  const panels = (
    <Box height={3}>
      <Panel title={[say('Calls')]} columns={14} width={15}>
        <Text>list</Text>
      </Panel>
      <Panel title={[say('call')]} columns={13} isBeside flexGrow={1}>
        <Text>details</Text>
      </Panel>
    </Box>
  );
  expect(rowsOf(panels, 30)).toEqual([
    '── Calls ──────┬── call ──────',
    'list           │ details',
    '               │',
  ]);
});
