// The page of queues in Chromium, over a router that keeps some. Routers of the old kind have none.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import rhea from 'rhea';
import { browser, go, open, serve } from './browser.mjs';
import { eventually, freePorts, listener, Router, section } from './network.mjs';

const PROGRAMS = process.env.WAYSTATION_PROGRAMS;
const skip = PROGRAMS && existsSync(join(PROGRAMS, 'waystation')) ? false : 'WAYSTATION_PROGRAMS does not say where routers of this kind are';
let folder;
let router;
let site;
let chromium;
let page;
let amqp;

const row = (text) => page.getByRole('row').filter({ has: page.getByRole('gridcell', { name: text, exact: true }) });
const messagesIn = (queue) => row(queue).getByRole('gridcell').nth(2);

/** The details of a queue, on a page that is come to anew: nothing is open or typed there that an earlier test has left. */
async function detailsOf(queue) {
  await go(page, 'overview', 'Overview');
  await go(page, 'queues', 'Queues');
  await row(queue).click();
  return page.getByRole('complementary', { name: queue });
}

/** Sends these to a queue, and waits until all are accepted. */
function send(queue, messages) {
  return new Promise((done, failed) => {
    const container = rhea.create_container();
    let left = messages.length;
    let sent = 0;
    container.on('sendable', ({ sender }) => {
      while (sent < messages.length && sender.sendable()) sender.send(messages[sent++]);
    });
    container.on('accepted', ({ connection }) => {
      if (--left === 0) {
        connection.close();
        done();
      }
    });
    container.on('disconnected', () => left && failed(new Error('the router closed the connection')));
    container.connect({ host: '127.0.0.1', port: amqp, reconnect: false }).open_sender(queue);
  });
}

before(async () => {
  if (skip) return;
  folder = await mkdtemp(join(tmpdir(), 'console-queues-'));
  const [http, port] = await freePorts(2);
  amqp = port;
  const store = section('store', { path: join(folder, 'store'), segmentBytes: 1048576, largeMessageBytes: 65536 });
  const queues = section('queue', { address: 'orders', deadLetterAddress: 'orders.dead' }) + section('queue', { address: 'later' });
  router = new Router(folder, 'Q', http, listener(http, { http: 'yes' }) + listener(amqp) + store + queues);
  router.mode = 'standalone';
  [site, chromium] = await Promise.all([serve(), browser(), router.start()]);
  await send('orders', [1, 2, 3].map((n) => ({ body: `order ${n}`, subject: `subject ${n}`, application_properties: { n } })));
  page = await open(chromium.context, `${site.url}?router=127.0.0.1:${http}`);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
});

after(async () => {
  await chromium?.end();
  await router?.stop();
  site?.close();
  if (folder) await rm(folder, { recursive: true, force: true });
});

test('queues are listed with what is in them', { skip }, async () => {
  await go(page, 'queues', 'Queues');
  await eventually(async () => (await messagesIn('orders').innerText()) === '3', 'three orders');
  await eventually(async () => (await messagesIn('later').innerText()) === '0', 'none for later');
});

test('messages are looked at and stay', { skip }, async () => {
  const details = await detailsOf('orders');
  await details.getByRole('button', { name: 'Look', exact: true }).click();
  const summary = (text) => details.locator('summary', { hasText: text });
  await summary('subject 3').waitFor();
  await details.getByLabel('Selector').fill('n = 2');
  await details.getByRole('button', { name: 'Look again' }).click();
  await summary('subject 1').waitFor({ state: 'detached' });
  await summary('subject 2').click();
  await details.getByText('order 2').waitFor();
  await details.getByLabel('Selector').fill('n == 2');
  await details.getByRole('button', { name: 'Look again' }).click();
  await details.getByRole('alert').getByText(/write a single/).waitFor();
});

test('the details of a queue lead to its links and to the page that sends and receives', { skip }, async () => {
  for (const [name, title] of [['Senders and receivers', 'Links'], ['Send, browse or receive', 'Messages']]) {
    await (await detailsOf('orders')).getByRole('link', { name }).click();
    await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
  }
});

test('messages are moved and purged', { skip }, async () => {
  const details = await detailsOf('orders');
  await details.getByRole('button', { name: 'Move…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Move' }).click();
  await dialog.getByText('Say to which queue.').waitFor();
  await dialog.getByLabel('To', { exact: true }).fill('later');
  await dialog.getByLabel('Selector').fill('n > 1');
  await dialog.getByRole('button', { name: 'Move' }).click();
  await dialog.waitFor({ state: 'detached' });
  await eventually(async () => (await messagesIn('later').innerText()) === '2', 'two were moved');
  await details.getByRole('button', { name: 'Purge…' }).click();
  await dialog.getByRole('button', { name: 'Purge' }).click();
  await dialog.waitFor({ state: 'detached' });
  await eventually(async () => (await messagesIn('orders').innerText()) === '0', 'the rest was dropped');
});

test('a queue is made by a form from the schema, changed and deleted', { skip }, async () => {
  await go(page, 'overview', 'Overview');
  await go(page, 'queues', 'Queues');
  await page.getByRole('button', { name: 'Create…' }).click();
  const create = page.getByRole('dialog', { name: 'Create queue' });
  await create.getByLabel(/^address/).fill('made');
  await create.getByLabel(/^maxMessages/).fill('5');
  await create.getByRole('button', { name: 'Create', exact: true }).click();
  await create.waitFor({ state: 'detached' });
  await row('made').click();
  const details = page.getByRole('complementary', { name: 'made' });
  await details.getByText('5 messages').waitFor();
  await details.getByRole('button', { name: 'Change…' }).click();
  const change = page.getByRole('dialog', { name: 'Change queue made' });
  await change.getByLabel(/^maxMessages/).fill('');
  await change.getByRole('button', { name: 'Save' }).click();
  await change.waitFor({ state: 'detached' });
  await details.getByText('5 messages').waitFor({ state: 'detached' });
  await send('made', [{ body: 'x' }]);
  await details.getByRole('button', { name: 'Delete…' }).click();
  const remove = page.getByRole('dialog', { name: 'Delete queue?' });
  await remove.getByRole('button', { name: 'Delete' }).click();
  await remove.getByRole('alert').getByText(/it has messages/).waitFor();
  await remove.getByLabel(/even if it has messages/).check();
  await remove.getByRole('button', { name: 'Delete' }).click();
  await row('made').waitFor({ state: 'detached' });
});

test('nothing went wrong inside the page', { skip }, () => assert.deepEqual(page.problems, []));
