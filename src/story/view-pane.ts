import { readView } from '../display/views.js';
import type { View } from '../exchange/thread.js';
import { type Pane, unseen } from './pane.js';

/** A view of a thread, as it is now; what cannot be drawn is shown as it came, with the reason. */
export function viewPane(view: Pick<View, 'type' | 'content' | 'updates'>): Pane {
  const { type, content, updates } = view;
  const about = `${type}, updated ${updates === 1 ? 'once' : `${updates} times`}`;
  const reading = readView(view);
  const drawing = reading.ok
    ? reading.drawing
    : ({ kind: 'text', text: JSON.stringify(content, null, 2) } as const);
  const said = reading.ok ? reading.complaint : reading.reason;
  return {
    title: 'view',
    about,
    notes: [...(said === undefined ? [] : [said]), ...unseen(drawing)],
    drawing,
  };
}
