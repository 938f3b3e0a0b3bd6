import { describe, expect, test } from 'vitest';
import { planRecord, type RecordFlags } from '../../../src/commands/record/plan.js';
import { errorOf } from '../../support/failing.js';

const URL = 'http://127.0.0.1:3001';
const FLAGS: RecordFlags = {
  host: '127.0.0.1',
  port: 0,
  maxBody: 1,
  drain: 2,
  output: 'plain',
  color: true,
};
const SAVED: RecordFlags = { ...FLAGS, save: 'session.ndjson' };

describe('what is to be recorded', () => {
  test('is told to the recorder', () => {
    const flags: RecordFlags = {
      ...SAVED,
      allowHost: ['recorder'],
      callbackUrl: 'http://recorder:3002',
      allowCallback: ['http://runtime:3000'],
    };
    expect(planRecord(URL, flags)).toEqual({
      file: 'session.ndjson',
      flags,
      recorder: {
        url: URL,
        host: '127.0.0.1',
        port: 0,
        maxBody: 1,
        drainMs: 2,
        allowHosts: ['recorder'],
        callbackBase: 'http://recorder:3002',
        allowCallbacks: ['http://runtime:3000'],
      },
    });
  });

  test('may be named in short', () => {
    expect(planRecord(':3001', SAVED).recorder.url).toBe(URL);
  });

  test('needs no file where the events are on stdout', () => {
    expect(planRecord(URL, { ...FLAGS, output: 'ndjson' }).file).toBeNull();
  });

  test.each<[string, RecordFlags, string, string]>([
    [URL, FLAGS, 'nothing would be recorded', 'Add --save <file>, or -o ndjson for stdout.'],
    [URL, { ...FLAGS, save: '-' }, '--save - names no file', '-o ndjson writes the transcript to stdout.'],
    ['tool', SAVED, '"tool" is no URL of a tool server', 'Give its base, such as http://127.0.0.1:3001.'],
    [
      'ftp://tool',
      SAVED,
      'ftp://tool is no http or https URL',
      'A tool server is given as http://host:port.',
    ],
    [
      'http://me:secret@tool',
      SAVED,
      'the URL of the tool carries a user name or a password',
      "Leave them out: what the runtime sends in its headers goes on to the tool's own origin.",
    ],
  ])('%s with %o is refused: %s', async (url, flags, message, hint) => {
    expect(await errorOf(() => planRecord(url, flags))).toMatchObject({ code: 'usage', message, hint });
  });
});
