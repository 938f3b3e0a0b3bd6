import { type View, withUpdate } from '../../../exchange/thread.js';
import { isDelivered, type ToolCall, typeOfDelivery } from '../../../exchange/tool-call.js';
import { Memo } from '../../../text/memo.js';
import type { Sheet, SheetLook } from '../../calls/sheets/sheet.js';
import { viewsSheet } from '../../calls/sheets/views.js';
import { messageIn } from './message-in.js';
import type { ToolSheetsOptions } from './options.js';

type Views = ReadonlyMap<string, View>;

/** What the call made its thread show, as far as the runtime took it: another call may have shown something else since. */
export function viewsTab({
  highlighter,
}: Pick<ToolSheetsOptions, 'highlighter'>): (call: ToolCall, look: SheetLook) => Sheet {
  const views = new Memo<Views>();
  const sheetOf = viewsSheet(highlighter, 'this call shows no views');
  return (call, look) => sheetOf(views.of([call.deliveries], () => viewsOf(call)).values(), look);
}

function viewsOf(call: ToolCall): Views {
  return call.deliveries.filter(isDelivered).reduce<Views>((views, delivery) => {
    if (typeOfDelivery(delivery) !== 'view_update') return views;
    const reading = messageIn(delivery, call);
    if (!reading.ok || reading.message.type !== 'view_update') return views;
    return withUpdate(views, reading.message, {
      at: delivery.attempts[0]?.at ?? 0,
      call: call.key,
      size: delivery.body?.size ?? 0,
    });
  }, new Map());
}
