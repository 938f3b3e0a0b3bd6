import { readAs } from '../../../dialects/index.js';
import { urlSecrets } from '../../../exchange/callback-secrets.js';
import { outcomeOfText } from '../../../outcome/conventions.js';
import { CALLBACK_TYPES, type Callback } from '../../../protocol/callbacks/index.js';
import { readCallback } from '../../../protocol/callbacks/read.js';
import { llmText } from '../../../protocol/llm-text.js';
import type { Warning } from '../../../protocol/requirements.js';
import { displayReport } from '../../../reporters/call-report.js';
import { llmPane, type Panes, panesOfResult } from '../../../story/panes.js';
import { isCleared, messageLines } from '../../../story/saved/message-lines.js';
import { problemLines } from '../../../story/saved/problem-lines.js';
import { viewPane } from '../../../story/view-pane.js';
import { textWarnings } from '../../../story/warnings.js';
import { isRecord } from '../../../text/is-record.js';
import { bareUrl } from '../../../text/redact.js';
import { linesSection, type Section } from '../sheet.js';
import type { Kind, Saved, SavedAnswer, View } from './kind.js';

/** A message that a tool POSTed to a callback URL. */
export const callbackKind: Kind = {
  name: `a callback (${CALLBACK_TYPES.join(', ')})`,
  dialect: 'rap',
  keys: ['type', 'group_id', 'id', 'call_id', 'text', 'content', 'display_as', 'tool_call_id', 'auth_url'],
  isMeant: ({ type }) => CALLBACK_TYPES.some(each => each === type),
  async read(json) {
    const reading = readCallback(json);
    if (!reading.ok) return reading;
    const { message, native, warnings } = reading;
    return { ok: true, saved: new SavedCallback(message, native, warnings) };
  },
};

class SavedCallback implements Saved {
  readonly faults = [];

  constructor(
    private readonly message: Callback,
    private readonly native: unknown,
    private readonly warnings: readonly Warning[],
  ) {}

  sections({ supports, isPrivate }: View): Section[] {
    return [
      linesSection(messageLines(this.message, isPrivate)),
      ...this.#panes(supports),
      linesSection(problemLines(this.#allWarnings(supports))),
    ];
  }

  report({ supports }: View): object {
    const { message } = this;
    return {
      kind: message.type,
      message: shareable(message, this.native),
      ...(message.type === 'tool_result' && resultReport(message, supports)),
      warnings: this.#allWarnings(supports),
    };
  }

  answers(): readonly SavedAnswer[] {
    const reading = readAs('rap', this.native);
    return this.message.type === 'tool_result' && reading.ok ? [{ ...reading, at: [] }] : [];
  }

  #panes(supports: ReadonlySet<string>): Section[] {
    const { message } = this;
    switch (message.type) {
      case 'tool_result':
        return [{ kind: 'panes', ...panesOfResult(message, supports) }];
      case 'subscription_event':
        return [{ kind: 'pane', pane: llmPane(message.text, true) }];
      case 'view_update': {
        const { view_type: type, content } = message;
        return isCleared(content) ? [] : [{ kind: 'pane', pane: viewPane({ type, content, updates: 1 }) }];
      }
      default:
        return [];
    }
  }

  #allWarnings(supports: ReadonlySet<string>): Warning[] {
    const { message } = this;
    const isResult = message.type === 'tool_result';
    const text = isResult ? llmText(message) : message.type === 'subscription_event' ? message.text : '';
    const ofPanes = isResult ? panesOfResult(message, supports).warnings : [];
    return [...this.warnings, ...ofPanes, ...textWarnings(text)];
  }
}

type ToolResult = Extract<Callback, { type: 'tool_result' }>;

function resultReport(message: ToolResult, supports: ReadonlySet<string>): object {
  const text = llmText(message);
  const panes: Panes = panesOfResult(message, supports);
  return { outcome: outcomeOfText(text), llm: { text }, display: displayReport(panes) };
}

/** What is stored elsewhere from here on: without what gives power over a conversation (threats, row 25). */
function shareable(message: Callback, native: unknown): unknown {
  if (!isRecord(native)) return native;
  if (message.type === 'oauth') return { ...native, auth_url: bareUrl(message.auth_url) };
  if (message.type !== 'user_choice') return native;
  const secrets = urlSecrets([message.response_url], [message.id, message.group_id]);
  return { ...native, response_url: secrets.text(message.response_url) };
}
