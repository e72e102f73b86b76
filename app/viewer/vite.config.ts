import react from '@vitejs/plugin-react'
import { defineConfig } from 'vitest/config'

/** The server that `npm run dev` asks: one that `make run` started, or another by TOOLFOLD_DEV_SERVER. */
const server = process.env.TOOLFOLD_DEV_SERVER ?? 'http://127.0.0.1:7878'
// Host stays the browser's: the server compares Origin with it.
const proxy = { target: server, ws: true }

export default defineConfig({
  plugins: [react()],
  base: '/',
  worker: { format: 'es' },
  build: {
    target: 'es2022',
    manifest: true,
    sourcemap: false,
    // Nothing is inlined: the content security policy allows no data: URLs and no inline script.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // GraphiQL's editor is as large as it is, and loaded by its own page alone.
    chunkSizeWarningLimit: 4000,
    rollupOptions: {
      // React's components say 'use client', which means nothing here.
      onwarn: (warning, warn) => warning.code === 'MODULE_LEVEL_DIRECTIVE' || warn(warning),
      input: { index: 'index.html', graphiql: 'graphiql.html' },
    },
  },
  server: { proxy: { '^/graphql$': proxy, '/api': proxy } },
  test: {
    environment: 'jsdom',
    include: ['src/**/*.test.{ts,tsx}'],
    setupFiles: ['src/testing/setup.ts'],
    restoreMocks: true,
  },
})
