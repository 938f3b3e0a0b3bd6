import { eventsOf } from '../../../events/build.js';
import { someCall } from '../parts.js';
import { passes, type Samples, skips } from '../sample.js';

const a = someCall('a', { arguments: { path: '/home/ada/notes.txt' } });
const says = (text: string) => [...a.sent(), ...a.answered(), ...a.result({ text })];

function leak(story: string, text: string, says_: RegExp): Samples[number] {
  return { story, events: eventsOf(says(`Error: ${text}`)), status: 'warn', says: says_ };
}

export const noLeakSamples: Samples = [
  passes('an error with advice', [says('Error: rate limited; retry at https://example.com/usr/share.')]),
  passes('a path from the arguments', [says('Error: there is no /home/ada/notes.txt')]),
  leak('a path of the host', 'no such file /usr/share/tool/data.db', /path of the host/),
  leak('a path of Windows', 'no such file C:\\Users\\ada\\data.db', /path of the host/),
  leak('node', 'x is undefined\n    at handle (tool.mjs:10:5)\n    at process', /stack trace/),
  leak('python', 'boom\nTraceback (most recent call last):\n  File "tool.py", line 3', /stack trace/),
  leak('java', 'boom\n\tat com.example.Tool.handle(Tool.java:42)', /stack trace/),
  leak('go', 'boom\n\ngoroutine 7 [running]:\nmain.main()', /stack trace/),
  leak('rust', "boom: thread 'main' panicked at tool.rs:3:1", /stack trace/),
  skips('a path in a successful result', [says('read /usr/share/x')]),
];
