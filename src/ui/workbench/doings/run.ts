import { REDACTED } from '../../../text/redact.js';
import type { Draft } from '../controls.js';
import { argumentsOf, type Form, withOtherFaults } from '../form/index.js';
import type { Looking } from '../looking.js';
import { isUnderWay } from '../state/orders.js';
import type { Filling } from '../state/state.js';
import { openForm } from './form.js';
import { bad, type House } from './house.js';
import { type Offer, offersOf, ownOffers } from './offers.js';
import { place } from './send.js';

/**
 * The arguments of the form, sent; what is wrong with them is shown at the fields. A destructive call is asked about first.
 * @param validates against the `inputSchema`; else they are sent as they are
 */
export function runForm(house: House, validates = true): void {
  const { filling, orders } = house.state;
  if (!filling || isUnderWay(orders, filling.id)) return;
  const args = argumentsOf(filling.form, validates);
  if (!args.ok) void tellFaults(house, filling, args.form, validates ? args.others : null);
  else if (validates && isCensored(args.value))
    house.say(bad(`Not sent: ${REDACTED} stands where a secret was. Ctrl-T sends it as it is.`));
  else place(house, { draft: draftOf(filling, args.value), validates, of: filling.id });
}

/** What cannot be read, at once; beside it what the `inputSchema` says of the others, unless the form is another one by then. */
async function tellFaults(
  house: House,
  filling: Filling,
  form: Form,
  others: Draft['arguments'] | null,
): Promise<void> {
  house.change({ filling: { ...filling, form } });
  if (others === null) return;
  const faults = await house.controls.check(draftOf(filling, others));
  const { filling: now } = house.state;
  if (now?.form === form) house.change({ filling: { ...now, form: withOtherFaults(form, faults) } });
}

function draftOf({ server, operation }: Filling, args: Draft['arguments']): Draft {
  return { server, operation, arguments: args };
}

/** The selected call once more, by the server that had it, with the same arguments, validated or not, in a thread of its own. */
export function runAgain(house: House): void {
  const again = againOf(house);
  if (!again) return;
  const { own, doubt, id, operation, args, validates, hasGaps } = again;
  if (isUnderWay(house.state.orders, id)) house.say(bad('Not run: it is on its way already.'));
  else if (doubt !== null) house.say(bad(`Not run: ${doubt} e opens its form at ${own.server.about}.`));
  else if (hasGaps) house.say(bad(`Not run: ${REDACTED} stands where a secret was. e edits the arguments.`));
  else
    place(house, {
      draft: { server: own.server.id, operation, arguments: args },
      validates,
      of: id,
    });
}

/** The selected call's arguments in the form of its operation, be it of another server. */
export function editAgain(house: House): void {
  const again = againOf(house);
  if (!again) return;
  const { own, doubt, id, args, hasGaps } = again;
  openForm(house, own, { given: args, about: id });
  const notes = [
    ...(doubt === null ? [] : [`This form is of ${own.server.about}: ${doubt}`]),
    ...(hasGaps ? [`${REDACTED} stands where a secret was: type it in.`] : []),
  ];
  if (notes.length > 0) house.say(bad(notes.join(' ')));
}

/** What the selected call would be once more: by its own server, or by another where there is a `doubt`. */
function againOf({ looking, world, say: tell }: House) {
  const { exchange, volume } = looking;
  if (!exchange) {
    tell(bad('There is no call to run again.'));
    return null;
  }
  const { operation, arguments: args } = exchange.invocation;
  const offers = offersOf(world, operation);
  const owns = ownOffers(offers, looking, world);
  const own = owns.find(isDestructive) ?? owns[0] ?? offers[0];
  if (!own) {
    tell(bad(`No tool server that is open offers ${operation}: u opens one.`));
    return null;
  }
  const id = `${volume.id} ${exchange.key}`;
  const validates = !(volume.isLive && world.isUnvalidated(exchange.key));
  return {
    own,
    doubt: doubtOf(owns.length),
    id,
    operation,
    args,
    validates,
    hasGaps: hasGaps(looking, args),
  };
}

function isDestructive({ tool: { annotations } }: Offer): boolean {
  return annotations?.destructive === true;
}

/** Why it cannot be told by whom a call is made once more; null where one may have made it. */
function doubtOf(count: number): string | null {
  if (count === 1) return null;
  return count === 0
    ? 'its own tool server does not offer it now.'
    : `${count} tool servers that are open name its endpoint.`;
}

/** A transcript has no secrets; what this session sent is known as it was. */
function hasGaps({ volume }: Looking, args: unknown): boolean {
  return !volume.isLive && isCensored(args);
}

function isCensored(args: unknown): boolean {
  return JSON.stringify(args).includes(REDACTED);
}
