import { useEffect } from 'react';
import { Covered } from '../components/Covered.js';
import { ListDetail } from '../components/ListDetail.js';
import { Screen } from '../components/Screen.js';
import type { Draw } from '../FullScreen.js';
import { listRoom } from '../screen/layout.js';
import { useNoticeTick, useTick } from '../use-tick.js';
import type { LiveList } from './live-list.js';

interface LiveListScreenProps<Entry, Tab extends string> {
  readonly screen: LiveList<Entry, Tab>;
}

/** A list of calls and the details of one of them, or a single text. */
export function LiveListScreen<Entry, Tab extends string>({ screen }: LiveListScreenProps<Entry, Tab>) {
  const state = screen.store.state();
  const layout = screen.layout();
  useNoticeTick(state, screen.now());
  useTick(screen.isRunning());
  useEffect(() => screen.onDrawn(state.overlay));
  return (
    <Screen state={state} layout={layout} hints={screen.hints()}>
      <Covered overlay={state.overlay} layout={layout} helpTables={screen.helpTables}>
        <ListDetail
          listed={screen.listed()}
          size={listRoom(layout)}
          hasEdge={layout.isRoomy}
          onSeen={screen.onSeen}
        />
      </Covered>
    </Screen>
  );
}

export function drawLiveList<Entry, Tab extends string>(screen: LiveList<Entry, Tab>): Draw {
  return () => <LiveListScreen screen={screen} />;
}
