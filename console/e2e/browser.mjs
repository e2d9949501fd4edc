// Chromium, and the built console on a web server of its own.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { PATIENCE } from './network.mjs';

const DIST = fileURLToPath(new URL('../dist/', import.meta.url));
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.txt': 'text/plain' };
/** What README.md says a server may send: the console must do with it. */
const POLICY = "default-src 'self'; connect-src 'self' ws: wss:; img-src 'self' data:";
export const FLAGS = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update',
  '--disable-sync', '--disable-dev-shm-usage',
];

/** Serves `dist/` under a folder, so that a path that is not relative shows. */
export async function serve() {
  const server = createServer(async (request, response) => {
    const path = normalize(new URL(request.url, 'http://x').pathname).replace(/^\/somewhere/, '');
    const name = path === '/' ? 'index.html' : path.slice(1);
    try {
      const body = await readFile(join(DIST, name));
      response.writeHead(200, { 'content-type': TYPES[extname(name)] ?? 'application/octet-stream', 'content-security-policy': POLICY });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${server.address().port}/somewhere/`, close: () => server.close() };
}

export async function browser() {
  const profile = await mkdtemp(join(tmpdir(), 'console-profile-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    headless: true,
    args: FLAGS,
    viewport: { width: 1400, height: 860 },
  });
  context.setDefaultTimeout(PATIENCE);
  return {
    context,
    async end() {
      await context.close();
      // Processes of Chromium may write a last file into a folder that is being emptied.
      await rm(profile, { recursive: true, force: true, maxRetries: 20 });
    },
  };
}

/** A fresh page; what goes wrong in it is kept. */
export async function open(context, url) {
  const page = await context.newPage();
  page.problems = [];
  page.on('pageerror', (error) => page.problems.push(error.stack ?? error.message));
  page.on('console', (message) => {
    // That a router is away is what some tests are about, and Chromium reports it here.
    if (message.type() === 'error' && !/WebSocket connection/.test(message.text())) page.problems.push(message.text());
  });
  await page.goto(url);
  return page;
}

export async function go(page, hash, title) {
  await page.evaluate((next) => { location.hash = next; }, `#/${hash}`);
  await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
}
