import type { Theme } from '../../../dress/theme.js';
import { type Hint, hintsLine } from '../../hints.js';
import { type Frame, layFrame, type Surroundings } from '../../live/frame.js';
import type { Size } from '../../terminal.js';
import { askerLine } from './asks.js';
import { type AnswerScene, answerPane, givenPane } from './scene.js';
import { answerTop } from './top.js';

/** While nothing is asked: what is asked has its own. */
const KEYS: readonly Hint[] = [['Ctrl-C', 'stops answering']];

/**
 * Lays out a session that is answered: how it stands, its calls, then what the human sees beside what the LLM gets of the call that was
 * answered last, in the end what the agent says; or what a person is asked.
 */
export function answerFrame(scene: AnswerScene, around: Surroundings, size: Size, theme: Theme): Frame {
  const { session, latest } = scene;
  const given = around.panes === null ? givenPane(latest) : null;
  const said = session ? answerPane(session) : null;
  const views = [...around.views, ...(given ? [given] : []), ...(said ? [said] : [])];
  const status = [...scene.status, ...around.status];
  const keys = status.length > 0 || around.picker || scene.isOver ? [] : [hintsLine([], KEYS, size.columns)];
  const top = answerTop({ ...scene, status: [...status, ...keys] }, size.columns, theme);
  const picker =
    around.picker && scene.asking ? { ...around.picker, asker: askerLine(scene.asking) } : around.picker;
  return layFrame(top, { ...around, status: [], views, picker }, size, theme);
}
