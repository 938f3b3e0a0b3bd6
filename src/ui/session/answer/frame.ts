import type { Theme } from '../../../dress/theme.js';
import { type Frame, layFrame, type Surroundings } from '../../live/frame.js';
import type { Size } from '../../terminal.js';
import { type AnswerScene, answerPane, givenPane } from './scene.js';
import { answerTop } from './top.js';

/**
 * Lays out a session that is answered: how it stands, its calls, then what the human sees beside what the LLM gets of the call that was
 * answered last, in the end what the agent says; or what a person is asked.
 */
export function answerFrame(scene: AnswerScene, around: Surroundings, size: Size, theme: Theme): Frame {
  const { session, latest } = scene;
  const given = around.panes === null ? givenPane(latest) : null;
  const said = session ? answerPane(session) : null;
  const views = [...around.views, ...(given ? [given] : []), ...(said ? [said] : [])];
  const top = answerTop({ ...scene, status: [...scene.status, ...around.status] }, size.columns, theme);
  return layFrame(top, { ...around, status: [], views }, size, theme);
}
