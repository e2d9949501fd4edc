// The configuration as a file: downloaded from a router, it starts the same router again.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { browser, go, open, serve } from './browser.mjs';
import { freePorts, listener, Router, section } from './network.mjs';

const run = promisify(execFile);
const PROGRAMS = process.env.WAYSTATION_PROGRAMS;
const skip = PROGRAMS ? false : 'WAYSTATION_PROGRAMS does not say where qdrouterd is';
const own = PROGRAMS && existsSync(join(PROGRAMS, 'waystation'));

const OPEN = `{
        "a": "b",
        "c": 5
    }`;
const GROUPS = `{
        "$default": {
            "users": "*",
            "remoteHosts": "*",
            "sources": "a, b-\${user}",
            "maxFrameSize": 20000,
            "allowDynamicSource": true
        }
    }`;

let folder;
let router;
let site;
let chromium;

before(async () => {
  if (skip) return;
  folder = await mkdtemp(join(tmpdir(), 'console-configuration-'));
  const [http, amqp, inter, nobody] = await freePorts(4);
  router = new Router(folder, 'C', http, [
    listener(http, { http: 'yes' }), listener(amqp, { name: 'amqp', maxFrameSize: 32768 }), listener(inter, { role: 'inter-router', cost: 5 }),
    section('connector', { name: 'broker', role: 'route-container', host: '127.0.0.1', port: nobody, saslUsername: 'joe', saslPassword: 'a-secret', saslMechanisms: 'PLAIN', verifyHostname: 'no', openProperties: OPEN }),
    section('address', { pattern: 'a/#/b', distribution: 'multicast' }), section('address', { prefix: 'queue', waypoint: 'yes' }), section('address', { prefix: 'safe', enableFallback: 'yes' }),
    section('linkRoute', { prefix: 'far', direction: 'in', connection: 'broker' }), section('autoLink', { address: 'queue.one', direction: 'in', connection: 'broker' }),
    section('exchange', { name: 'ex', address: 'exa' }), section('binding', { name: 'bi', exchangeName: 'ex', bindingKey: 'a.#', nextHopAddress: 'z' }),
    section('policy', { maxConnections: 100 }), section('vhost', { hostname: 'example.com', maxConnections: 10, groups: GROUPS }),
    section('log', { module: 'AGENT', enable: 'warning+' }),
    own ? section('store', { path: join(folder, 'store'), segmentBytes: 1048576, largeMessageBytes: 65536 }) + section('queueTemplate', { pattern: 't.#', durable: 'no' }) + section('topic', { address: 'news' }) + section('queue', { address: 'orders', maxMessages: 5 }) : '',
  ].join(''));
  [site, chromium] = await Promise.all([serve(), browser(), router.start()]);
});

after(async () => {
  await chromium?.end();
  await router?.stop();
  site?.close();
  if (folder) await rm(folder, { recursive: true, force: true });
});

/** The file that the console makes. */
async function download() {
  const page = await open(chromium.context, `${site.url}?router=127.0.0.1:${router.http}`);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await go(page, 'entities', 'Entities');
  await page.getByRole('button', { name: 'As a file…' }).click();
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Download qdrouterd.conf' }).click()]);
  if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/configuration.png` });
  const text = await readFile(await file.path(), 'utf8');
  assert.equal(file.suggestedFilename(), 'qdrouterd.conf');
  assert.deepEqual(page.problems, []);
  await page.close();
  return text;
}

/** Without what is said about it. */
const sections = (text) => text.split('\n').filter((line) => !line.trimStart().startsWith('#')).join('\n');

test('a router that starts with what was downloaded is configured alike', { skip }, async () => {
  const first = await download();
  for (const part of [/^ {4}pattern: a\/#\/b$/m, /^ {4}enableFallback: yes$/m, /^ {4}bindingKey: a\.#$/m, /"maxFrameSize": 20000/, /^ {4}# saslPassword: left out$/m]) assert.match(first, part);
  assert.doesNotMatch(first, /a-secret/);
  if (own) {
    const file = join(folder, 'downloaded.conf');
    await writeFile(file, first);
    const { stdout } = await run(join(PROGRAMS, 'waystation'), ['check', file]);
    assert.match(stdout, /nothing is wrong/);
  }
  await router.stop();
  await router.start(first);
  assert.equal(sections(await download()), sections(first));
});
