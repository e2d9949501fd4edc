// The console over TLS: the listener asks for a certificate, and who has one is signed in by it (SASL EXTERNAL over `wss:`).
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';
import { FLAGS, go } from './browser.mjs';
import { PATIENCE, Router, freePorts, listener, section } from './network.mjs';

const run = promisify(execFile);
const skip = process.env.WAYSTATION_PROGRAMS ? false : 'WAYSTATION_PROGRAMS is not set';

/** An authority, and two certificates of it: a router's and a client's. */
async function certificates(folder) {
  const openssl = (...words) => run('openssl', words, { cwd: folder });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  await openssl('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2', '-subj', '/CN=authority');
  for (const [name, extension] of [['localhost', 'subjectAltName=DNS:localhost'], ['joe', 'extendedKeyUsage=clientAuth']]) {
    await openssl('req', ...key, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${name}`);
    await writeFile(join(folder, `${name}.ext`), `${extension}\n`);
    await openssl('x509', '-req', '-in', `${name}.csr`, '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2',
      '-extfile', `${name}.ext`, '-out', `${name}.pem`);
  }
}

test('who shows a certificate is signed in by it, over an encrypted WebSocket', { skip }, async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'console-tls-'));
  context.after(() => rm(folder, { recursive: true, force: true }));
  await certificates(folder);
  const [plain, secure] = await freePorts(2);
  const at = (name) => join(folder, name);
  const profile = section('sslProfile', {
    name: 'tls', certFile: at('localhost.pem'), privateKeyFile: at('localhost.key'), caCertFile: at('ca.pem'), uidFormat: 'n',
  });
  const asks = { http: 'yes', sslProfile: 'tls', requireSsl: 'yes', authenticatePeer: 'yes', saslMechanisms: 'EXTERNAL' };
  const router = new Router(folder, 'secure', plain, profile + listener(plain, { http: 'yes' }) + listener(secure, asks));
  context.after(() => router.stop());
  await router.start();

  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: FLAGS });
  context.after(() => browser.close());
  const origin = `https://localhost:${secure}`;
  const visitor = await browser.newContext({ ignoreHTTPSErrors: true });
  visitor.setDefaultTimeout(PATIENCE);
  const stranger = await visitor.newPage();
  await assert.rejects(stranger.goto(origin), 'without a certificate nobody gets in');

  const joe = await browser.newContext({
    ignoreHTTPSErrors: true,
    clientCertificates: [{ origin, certPath: at('joe.pem'), keyPath: at('joe.key') }],
  });
  joe.setDefaultTimeout(PATIENCE);
  const page = await joe.newPage();
  const sockets = [];
  page.on('websocket', (socket) => sockets.push(socket.url()));
  await page.goto(origin);
  await page.getByRole('heading', { level: 1, name: 'Overview', exact: true }).waitFor();
  assert.deepEqual(sockets.map((url) => new URL(url).protocol), ['wss:']);
  await go(page, 'connections', 'Connections');
  await page.getByRole('row').filter({ hasText: 'joe' }).first().waitFor();
});
