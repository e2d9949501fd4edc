import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { licences } from './licences.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const nothing = here('./src/shims/nothing.cjs');

// rhea is written for Node.js. In a browser it needs a Buffer and an EventEmitter; what concerns sockets and files is never called.
const shims = [
  { find: /^(fs|os|path|net|tls)$/, replacement: nothing },
  { find: /^debug$/, replacement: here('./src/shims/debug.cjs') },
  { find: /^util$/, replacement: here('./src/shims/util.cjs') },
  { find: /^buffer$/, replacement: here('./node_modules/buffer/index.js') },
  { find: /^events$/, replacement: here('./node_modules/events/events.js') },
];

export default defineConfig(({ mode }) => ({
  base: './',
  plugins: [licences()],
  resolve: { alias: mode === 'test' ? [] : shims },
  worker: {
    format: 'es',
    rolldownOptions: { output: { entryFileNames: 'assets/amqp.js' } },
  },
  build: {
    target: 'es2022',
    // Fixed names: the committed bundle changes in place, and the server revalidates by entity tag.
    rolldownOptions: {
      output: {
        entryFileNames: 'assets/console.js',
        chunkFileNames: 'assets/[name].js',
        assetFileNames: ({ names }) => (names[0]?.endsWith('.css') ? 'assets/console.css' : 'assets/[name][extname]'),
      },
    },
    modulePreload: false,
  },
  server: { host: '127.0.0.1', port: 5670 },
  test: { include: ['test/**/*.test.ts'], environment: 'node', testTimeout: 60_000 },
}));
