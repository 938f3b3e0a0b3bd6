import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: new URL('../', import.meta.url).pathname,
  test: {
    include: ['test/**/*.test.{ts,tsx}'],
    globalSetup: ['test/build-once.ts'],
    testTimeout: 20_000,
    env: { FORCE_COLOR: '0', TERM: 'xterm-256color' },
  },
});
