import type { Command } from '../keys/bindings.js';
import { askQuestion, cancel, visit } from './call.js';
import { copyCommand, copyConsent, copyCurl } from './copy.js';
import { askFixturePath, askFor, askTranscriptPath } from './files.js';
import type { House } from './house.js';
import { editAgain, runAgain, runForm } from './run.js';
import { chooseEntry, dismissServer } from './tools.js';

export { keepForm, openForm } from './form.js';
export type { House } from './house.js';
export { type Offer, offersOf } from './offers.js';

/** What commands do besides moving the eye. */
const DOINGS: Partial<Readonly<Record<Command, (house: House) => void>>> = {
  openServer: house => askFor('server', house),
  dismiss: dismissServer,
  openTranscript: house => askFor('transcript', house),
  saveTranscript: askTranscriptPath,
  search: house => askFor('search', house),
  saveFixture: askFixturePath,
  runForm: house => runForm(house),
  runUnchecked: house => runForm(house, false),
  runAgain,
  editAgain,
  answer: askQuestion,
  cancel: house => void cancel(house),
  visit: house => void visit(house),
  copyConsent,
  copyCurl,
  copyCommand: house => void copyCommand(house),
};

/** Does what a command asks for. False where it is none that does anything. */
export function perform(command: Command, house: House): boolean {
  const doing = command === 'enter' && house.state.page === 'tools' ? chooseEntry : DOINGS[command];
  doing?.(house);
  return doing !== undefined;
}
