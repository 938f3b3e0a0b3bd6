import { cutLine } from '../../../dress/cut-line.js';
import { dressLine, wrapLine } from '../../../dress/dress.js';
import type { Theme } from '../../../dress/theme.js';
import { statusOf } from '../../../exchange/session/session.js';
import { isSettledStatus } from '../../../protocol/session/status.js';
import type { Line } from '../../../story/line.js';
import { sessionCallRow } from '../../../story/session/call-row.js';
import { sessionHead } from '../../../story/session/head-lines.js';
import type { KnownCall } from '../../../story/session/known.js';
import { callsTally } from '../../../story/session/tally.js';
import { say } from '../../../story/spans.js';
import { clipped } from '../../../story/tool-calls/clip.js';
import { formatDuration } from '../../../text/format-duration.js';
import type { Top } from '../../live/frame.js';
import { sessionTable } from '../table.js';
import { pageLines } from './asks.js';
import type { AnswerScene } from './scene.js';

/** The session and its calls, the latest of them where there is no room for all; what a person is to do stands below, and is never cut. */
export function answerTop(scene: AnswerScene, columns: number, theme: Theme): Top {
  const dress = (lines: readonly Line[]) => lines.map(line => dressLine(cutLine(line, columns), theme));
  const head = [nameLine(scene), standing(scene), ...tally(scene)];
  const below = [...pageLines(scene).flatMap(line => wrapLine(line, columns, theme)), ...dress(scene.status)];
  const least = head.length + (scene.calls.length > 0 ? 2 : 0) + below.length; // the head of the table and a call
  return {
    least,
    draw: max => {
      const above = dress([...head, ...table(scene, columns, max - head.length - below.length)]);
      return [...above.slice(0, Math.max(0, max - below.length)), ...below].slice(0, max);
    },
  };
}

function nameLine({ id, url }: AnswerScene): Line {
  return [say('session '), ...clipped(id, 'title'), say('  '), ...clipped(originOf(url), 'running')];
}

function standing({ session, now }: AnswerScene): Line {
  if (session) return sessionHead(session, now);
  return [say('… ', 'running'), say('asking the platform', 'running'), say(` ${formatDuration(now)}`, 'dim')];
}

/** Once it is over. */
function tally({ session, calls }: AnswerScene): readonly Line[] {
  return session && isSettledStatus(statusOf(session) ?? '') ? callsTally(session, calls) : [];
}

/** A head, the latest calls, and how many there are besides. */
function table({ calls, latest, asking, now }: AnswerScene, columns: number, max: number): readonly Line[] {
  if (calls.length === 0 || max < 2) return [];
  const room = calls.length <= max - 1 ? max - 1 : max - 2;
  const seen = latestWith(asking, calls, Math.max(1, room));
  const rows = seen.map(call => sessionCallRow(call, now));
  const meant = asking ?? latest;
  const selected = meant && rows[seen.indexOf(meant)];
  const lines = sessionTable(rows, selected, columns, { ofOne: true });
  const hidden = calls.length - seen.length;
  const which = seen.at(-1) === calls.at(-1) && seen[0] === calls[hidden] ? 'earlier' : 'other';
  return hidden > 0 && max > 2 ? [...lines, [say(`  … ${hidden} ${which} calls`, 'dim')]] : lines;
}

/** The latest of them, and in any case the one that asks. */
function latestWith(
  asking: KnownCall | undefined,
  calls: readonly KnownCall[],
  count: number,
): readonly KnownCall[] {
  const seen = calls.slice(-count);
  return asking === undefined || seen.includes(asking)
    ? seen
    : [asking, ...calls.slice(1 - count || calls.length)];
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}
