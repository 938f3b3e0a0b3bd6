import { Box } from 'ink';
import { Covered } from '../components/Covered.js';
import { Form } from '../components/Form.js';
import { Lines } from '../components/Line.js';
import { ListDetail } from '../components/ListDetail.js';
import { Screen } from '../components/Screen.js';
import type { Draw } from '../FullScreen.js';
import { listRoom, type ScreenLayout } from '../screen/layout.js';
import { useNoticeTick } from '../use-tick.js';
import { formHeading } from './head.js';
import type { WorkbenchProgram } from './program.js';
import { currentForm } from './state.js';

/** Below this height, a form has no heading. */
const MIN_ROWS_FOR_HEADING = 8;

/** The tools, the form of an operation, or the calls. */
export function WorkbenchScreen({ program }: { readonly program: WorkbenchProgram }) {
  const state = program.store.state();
  const layout = program.layout();
  useNoticeTick(state, program.effects.now());
  return (
    <Screen state={state} layout={layout} hints={program.hints()}>
      <Covered overlay={state.overlay} layout={layout} helpTables={program.helpTables}>
        <WorkbenchPage program={program} layout={layout} />
      </Covered>
    </Screen>
  );
}

interface PageProps {
  readonly program: WorkbenchProgram;
  readonly layout: ScreenLayout;
}

function WorkbenchPage({ program, layout }: PageProps) {
  const { page } = program.store.state();
  const list = { size: listRoom(layout), hasEdge: layout.isRoomy, onSeen: program.onSeen };
  if (page === 'form') return <FormPage program={program} layout={layout} />;
  if (page === 'calls') return <ListDetail key="calls" listed={program.calls()} {...list} />;
  return <ListDetail key="tools" listed={program.tools()} {...list} />;
}

function FormPage({ program, layout: { room, isRoomy } }: PageProps) {
  const open = currentForm(program.store.state());
  if (!open) return null;
  const heading = room.rows < MIN_ROWS_FOR_HEADING ? [] : formHeading(program, open, isRoomy);
  const server = program.model.servers.find(({ id }) => id === open.server);
  const url = server?.state.kind === 'ready' ? server.state.toolset.endpoint : undefined;
  return (
    <Box flexDirection="column">
      <Lines lines={heading} width={room.columns} />
      <Form
        form={open.form}
        size={{ columns: room.columns, rows: room.rows - heading.length }}
        {...(url !== undefined && { request: { method: 'POST', url } })}
      />
    </Box>
  );
}

export function drawWorkbench(program: WorkbenchProgram): Draw {
  return () => <WorkbenchScreen program={program} />;
}
