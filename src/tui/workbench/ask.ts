import type { PromptPurpose, Purpose } from './state.js';
import type { Workbench } from './workbench.js';

/** The labels of the prompts, besides that of the search. */
const LABELS = {
  openServer: 'Tool server (URL, :port or demo): ',
  openTranscript: 'Open transcript: ',
  saveTranscript: 'Save the transcript as: ',
  saveFixture: 'Save as fixture: ',
} as const satisfies Record<PromptPurpose['kind'], string>;

/** @param isSuggested the first typed text replaces the text */
export function askFor({ effects }: Workbench, purpose: PromptPurpose, text = '', isSuggested = false): void {
  effects.ask(LABELS[purpose.kind], purpose, text, isSuggested);
}

/** Whether a purpose is that of a prompt, besides the search. */
export function isPromptPurpose(purpose: Purpose): purpose is PromptPurpose {
  return purpose.kind in LABELS;
}
