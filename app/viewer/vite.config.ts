import react from '@vitejs/plugin-react'
import type { Plugin } from 'vite'
import { defineConfig } from 'vitest/config'

/** The server that `npm run dev` asks: one that `make run` started, or another by TOOLFOLD_DEV_SERVER. */
const server = process.env.TOOLFOLD_DEV_SERVER ?? 'http://127.0.0.1:7878'
// Host stays the browser's: the server compares Origin with it.
const proxy = { target: server, ws: true }

/** Names the frame's code in the viewer's page, so that it comes beside the first script and not after it. */
const preloads: Plugin = {
  name: 'preloads',
  transformIndexHtml: {
    order: 'post',
    handler(_, { bundle, filename }) {
      const chunks = Object.values(bundle ?? {}).filter((one) => one.type === 'chunk')
      const frame = chunks.find((chunk) => chunk.moduleIds.some((id) => id.endsWith('/src/App.tsx')))
      if (!frame || !filename.endsWith('/index.html')) return
      return [frame.fileName, ...frame.imports]
        .filter((name) => !name.includes('/begin-'))
        .map((name) => ({
          tag: 'link',
          attrs: { rel: 'modulepreload', crossorigin: true, href: `/${name}` },
          injectTo: 'head',
        }))
    },
  },
}

export default defineConfig({
  plugins: [react(), preloads],
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
      output: {
        // Few files: what asks the server, which needs nothing else, and what both pages of the viewer are made with.
        advancedChunks: {
          groups: [
            {
              name: 'begin',
              test: /src\/graphql\/|interface\/(address|exactJson)|session\/opening|preload-helper|rolldown/,
              priority: 3,
            },
            { name: 'react', test: /node_modules\/(react|react-dom|scheduler)\//, priority: 2 },
            { name: 'frame', test: /src\/(interface\/|App|sessions\/StatusMark)/, priority: 1 },
          ],
        },
      },
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
