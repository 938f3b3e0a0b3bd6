import { expectTypeOf, test } from 'vitest';
import type * as z from 'zod/mini';
import type { factSchema } from '../../src/events/event-schema.js';
import type { Body, Event } from '../../src/events/events.js';
import type { TranscriptHeader, transcriptLineSchema } from '../../src/events/transcript-reader.js';

type FromSchema = z.infer<ReturnType<typeof factSchema<z.ZodMiniType<Body>>>>;

type Members<E extends { kind: string }> = { [Each in E as Each['kind']]: keyof Each };

type Header = Extract<z.infer<typeof transcriptLineSchema>, { kind: 'header' }>;

/** The compiler runs this test. */
test('the published types of events are those of the schema of transcripts', () => {
  expectTypeOf<Event>().toExtend<FromSchema>();
  expectTypeOf<FromSchema>().toExtend<Event>();
  expectTypeOf<Members<Event>>().toEqualTypeOf<Members<FromSchema>>();
  expectTypeOf<Header>().toEqualTypeOf<{
    -readonly [Name in keyof TranscriptHeader]: TranscriptHeader[Name];
  }>();
});
