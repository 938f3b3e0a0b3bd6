import { type Exchange, isUnderWay } from '../../events/exchange.js';
import type { MadeCallTab, ToolTab } from '../calls/tabs.js';
import { lazyHighlighter } from '../lazy-highlighter.js';
import { type Listed, selectedEntry, selectedKey } from '../list/list.js';
import { type ScreenEffects, screenEffects } from '../screen/effects.js';
import { createStore, type Store } from '../store.js';
import { callsList, openChoice } from './calls.js';
import type { Controls, Model, Server, SessionOptions, Source } from './model.js';
import {
  currentForm,
  initialWorkbench,
  type Purpose,
  type WorkbenchAction,
  type WorkbenchState,
  workbenchReducer,
} from './state.js';
import { type ToolEntry, toolsList } from './tools.js';

/** The state of a workbench, and what its actions need. */
export interface Workbench {
  readonly model: Model;
  readonly controls: Controls;
  readonly store: Store<WorkbenchState, WorkbenchAction>;
  readonly effects: ScreenEffects<Purpose>;
  readonly tools: () => Listed<ToolEntry, ToolTab>;
  readonly calls: () => Listed<Exchange, MadeCallTab>;
  /** This session, or the transcript whose calls are listed. */
  readonly source: () => Source;
}

export function createWorkbench({ model, controls, supports, clock, level }: SessionOptions): Workbench {
  const onChange = () => store.dispatch({ type: 'changed' });
  const highlighter = lazyHighlighter(level, onChange);
  const source = () => sourceWith(model, store.state().source);
  const lists = {
    tools: { ...toolsList(model), highlighter },
    calls: {
      ...callsList({
        model,
        supports,
        onChange,
        source,
        now: () => effects.now(),
        marked: () => store.state().marked,
      }),
      highlighter,
    },
  };
  const store: Workbench['store'] = createStore(workbenchReducer(lists), initialWorkbench(lists));
  const effects = screenEffects<Purpose>(store.dispatch, clock);
  return {
    model,
    controls,
    store,
    effects,
    tools: () => ({ list: lists.tools, state: store.state().tools }),
    calls: () => ({ list: lists.calls, state: store.state().calls }),
    source,
  };
}

function sourceWith({ sources }: Model, id: number): Source {
  const source = sources.find(each => each.id === id) ?? sources[0];
  if (!source) throw new Error('this session is always a source');
  return source;
}

export function selectedTool({ tools }: Workbench): ToolEntry | undefined {
  return selectedEntry(tools());
}

export function selectedCall({ calls }: Workbench): Exchange | undefined {
  return selectedEntry(calls());
}

export function selectedCallKey({ calls }: Workbench): string | null {
  return selectedKey(calls());
}

/** The server of the selected call; undefined in a transcript. */
export function serverOfCall(workbench: Workbench): Server | undefined {
  const { model, source } = workbench;
  const call = selectedCall(workbench);
  const id = call && source().isLive ? model.serverOf(call.key) : null;
  return model.servers.find(server => server.id === id);
}

/** What the selected call waits for; a recorded call waits for nothing. */
export function waitsOf(workbench: Workbench) {
  const call = selectedCall(workbench);
  const source = workbench.source();
  const isLive = source.isLive && call !== undefined;
  return {
    forChoice: isLive && openChoice(selectedCallKey(workbench), source.callLog) !== null,
    forConsent: isLive && call.waitingFor?.type === 'oauth',
    isRunning: isLive && isUnderWay(call),
  };
}

export function complain({ effects }: Pick<Workbench, 'effects'>, text: string): void {
  effects.say(text, 'bad');
}

/** Returns whether the user is still at the same place, in the same state. */
export function watchPlace({ store }: Workbench): () => boolean {
  const placeNow = () => {
    const state = store.state();
    return [state.page, state.overlay, currentForm(state)?.form, state.calls]; // the list has another state after each key
  };
  const before = placeNow();
  return () => placeNow().every((each, index) => each === before[index]);
}
