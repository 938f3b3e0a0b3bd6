import type { ActionResult } from '../screen/effects.js';
import { askFor, isPromptPurpose } from './ask.js';
import { openTranscript } from './files.js';
import { decideConsent } from './run.js';
import { completeServer, openServer, openServerOrReport } from './servers.js';
import type { PromptPurpose, Purpose } from './state.js';
import { type Workbench, watchPlace } from './workbench.js';

/** Does what a prompt is for. After a failure, asks again with the typed text, unless the user is somewhere else by then. */
export async function submitPrompt(
  workbench: Workbench,
  purpose: PromptPurpose,
  typed: string,
): Promise<void> {
  if (typed.trim() === '') return;
  const isHere = watchPlace(workbench);
  const said = await resultOf(workbench, purpose, typed.trim());
  if (said?.isBad && isHere()) askFor(workbench, purpose, typed);
  if (said) workbench.effects.report(said);
}

async function resultOf(
  workbench: Workbench,
  purpose: PromptPurpose,
  typed: string,
): Promise<ActionResult | null> {
  const { controls } = workbench;
  switch (purpose.kind) {
    case 'openServer':
      return openServer(workbench, typed);
    case 'openTranscript':
      return openTranscript(workbench, typed);
    case 'saveTranscript':
      return controls.saveTranscript(typed);
    case 'saveFixture':
      return controls.saveFixture(purpose.call, purpose.source, typed);
  }
}

/** The possible completions of a prompt, sorted; null if it has none. */
export async function completionsOf(
  workbench: Workbench,
  purpose: Purpose,
  typed: string,
): Promise<readonly string[] | null> {
  if (purpose.kind === 'openServer') return completeServer(workbench, typed);
  return isPromptPurpose(purpose) ? workbench.controls.paths(typed) : null;
}

/** Does what a question is for. @param selected the index of the choice; null if the user dismissed the question */
export function answerQuestion(workbench: Workbench, purpose: Purpose, selected: number | null): void {
  if (purpose.kind === 'consent') void decideConsent(workbench, purpose.sending, selected === 0);
  if (selected === null) return;
  if (purpose.kind === 'openRecent') openServerOrReport(workbench, workbench.model.recent[selected] ?? '');
  if (purpose.kind === 'answer') {
    const said = workbench.controls.answer(purpose.call, purpose.leg, selected);
    if (said) workbench.effects.report(said);
  }
}
