import type { Looking } from '../looking.js';
import { selectedEntry } from '../state/entries.js';
import { isRunAgain } from '../state/orders.js';
import type { State } from '../state/state.js';
import type { Server, World } from '../world.js';
import type { Heading } from './head.js';

/** Counted is what is listed: a transcript is over, whatever it was waiting for. */
export function headingOf(state: State, looking: Looking, world: World): Heading {
  const { filling, page, orders } = state;
  const { book, volume } = looking;
  const running = volume.isLive ? book.underWay.size : 0;
  const sending = orders.some(isRunAgain) ? ', sending …' : '';
  const calls = `Calls ${book.keys.length}${running > 0 ? `, ${running} running` : ''}${sending}`;
  return {
    pages: [
      { text: 'Tools', isChosen: page === 'tools' },
      ...(filling
        ? [{ text: `Form ${filling.operation}`, isChosen: page === 'form', isName: true as const }]
        : []),
      { text: calls, isChosen: page === 'calls' },
    ],
    about: page === 'calls' ? aboutCall(state, looking, world) : (serverOn(state, world)?.about ?? ''),
  };
}

/** Whoever reads a call on a small screen sees no list: which call it is stands here. */
function aboutCall({ calls }: State, { exchange, volume }: Looking, { servers, serverOf }: World): string {
  if (exchange && calls.focus !== 'list') return `${exchange.invocation.operation} ${exchange.invocation.id}`;
  if (!volume.isLive) return volume.name;
  const id = exchange ? serverOf(exchange.key) : null;
  const [only, ...others] = servers;
  return (servers.find(server => server.id === id) ?? (others.length === 0 ? only : undefined))?.about ?? '';
}

/** That the form's call goes to, or that the selected row is of. */
function serverOn(state: State, { servers }: World): Server | undefined {
  const { page, filling } = state;
  if (page === 'form') return servers.find(({ id }) => id === filling?.server);
  return selectedEntry(state, servers)?.server;
}
