import { firstLineOf } from '../first-line.js';
import { formOf, reformed } from '../form/index.js';
import { filledIn, fillingOf, leftBehind } from '../state/fillings.js';
import type { Filling } from '../state/state.js';
import type { House } from './house.js';
import type { Offer } from './offers.js';

/** What a form begins with. */
export interface Beginning {
  readonly given?: Readonly<Record<string, unknown>> | undefined;
  /** The name of the call that is edited; none unless told. */
  readonly about?: string;
}

/** Opens a form; one that is filled in already stays as it was left, and what it sent stays on its way. */
export function openForm(
  house: Pick<House, 'state' | 'change'>,
  offer: Offer,
  beginning: Beginning = {},
): void {
  const { state, change } = house;
  change({ page: 'form', ...filledIn(state, fillingFor(house, offer, beginning)) });
}

/** Has a form ready for whoever opens it; it is not opened now. */
export function keepForm(house: Pick<House, 'state' | 'change'>, offer: Offer, beginning: Beginning): void {
  const { state, change } = house;
  const filling = fillingFor(house, offer, beginning);
  if (filling.id !== state.filling?.id) change(leftBehind(state, filling));
}

function fillingFor({ state }: Pick<House, 'state'>, offer: Offer, beginning: Beginning): Filling {
  const { server, tool } = offer;
  const { about = null } = beginning;
  const known = fillingOf(state, { server: server.id, operation: tool.name, about });
  return known ? kept(known, offer) : fresh(offer, beginning);
}

function fresh({ server, tool }: Offer, { given, about }: Beginning): Filling {
  const { name, description, inputSchema } = tool;
  return {
    id: Symbol(name),
    server: server.id,
    operation: name,
    about: about ?? null,
    description: firstLineOf(description),
    form: formOf(inputSchema, given),
  };
}

/** Its server may have been asked once more since. */
function kept(filling: Filling, { tool: { description, inputSchema } }: Offer): Filling {
  return {
    ...filling,
    description: firstLineOf(description),
    form: reformed(filling.form, inputSchema),
  };
}
