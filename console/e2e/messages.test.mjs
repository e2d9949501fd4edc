// Sending and receiving by the page of messages in Chromium, with other clients at the other end.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import rhea from 'rhea';
import { browser, go, open, serve } from './browser.mjs';
import { freePorts, listener, Router, section } from './network.mjs';

const PROGRAMS = process.env.WAYSTATION_PROGRAMS;
const skip = PROGRAMS ? false : 'WAYSTATION_PROGRAMS does not say where qdrouterd is';
const keeps = PROGRAMS && existsSync(join(PROGRAMS, 'waystation'));
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Who may manage, send to `open` and receive from it, and nothing else. */
const POLICY = `policy {
    enableVhostPolicy: true
    defaultVhost: $default
}
vhost {
    hostname: $default
    groups: {
        "guests": {
            "users": "*",
            "remoteHosts": "*",
            "allowDynamicSource": true,
            "allowAnonymousSender": true,
            "sources": "open",
            "targets": "open, $management"
        }
    }
}
`;

let folder;
let router;
let strict;
let site;
let chromium;
let page;
let amqp;

const sending = () => page.getByRole('form', { name: 'Send' });
const receiving = () => page.getByRole('form', { name: 'Receive' });
const messages = () => receiving().locator('details');

/** A client of the router: `links` makes its links, and `end` closes it. */
function client(links) {
  const container = rhea.create_container();
  for (const event of ['disconnected', 'error']) container.on(event, () => {});
  const connection = container.connect({ host: '127.0.0.1', port: amqp, reconnect: false });
  links(connection);
  return { end: () => connection.close() };
}

/** A client that has receivers, once it is attached. */
async function receiver(address, onMessage) {
  let attached;
  const ready = new Promise((resolve) => (attached = resolve));
  const it = client((connection) => {
    const link = connection.open_receiver({ source: address, autoaccept: false });
    link.on('receiver_open', attached);
    link.on('message', onMessage);
  });
  await ready;
  return it;
}

/** A client that sends these as soon as they are taken, and says what became of them. */
function sender(address, all) {
  const outcomes = [];
  let done;
  const settled = new Promise((resolve) => (done = resolve));
  const it = client((connection) => {
    const link = connection.open_sender(address);
    let sent = 0;
    link.on('sendable', () => {
      while (sent < all.length && link.credit > sent - link.delivery_count) link.send(all[sent++]);
    });
    for (const outcome of ['accepted', 'released', 'rejected']) {
      link.on(outcome, () => {
        outcomes.push(outcome);
        if (outcomes.length === all.length) done();
      });
    }
  });
  return { ...it, settled, outcomes };
}

/** The page for an address, come to anew: what an earlier test has typed is not there any more. */
async function choose(address) {
  await go(page, `messages?address=${address}`, 'Messages');
  await page.reload();
  await page.getByRole('heading', { level: 1, name: 'Messages', exact: true }).waitFor();
}

before(async () => {
  if (skip) return;
  folder = await mkdtemp(join(tmpdir(), 'console-messages-'));
  const [http, port, guarded] = await freePorts(3);
  amqp = port;
  const store = keeps ? section('store', { path: join(folder, 'store') }) + section('queue', { address: 'kept' }) : '';
  router = new Router(folder, 'M', http, listener(http, { http: 'yes' }) + listener(amqp) + store);
  strict = new Router(folder, 'P', guarded, listener(guarded, { http: 'yes' }) + POLICY);
  router.mode = strict.mode = 'standalone';
  [site, chromium] = await Promise.all([serve(), browser(), router.start(), strict.start()]);
  page = await open(chromium.context, `${site.url}?router=127.0.0.1:${http}`);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
});

after(async () => {
  await chromium?.end();
  await router?.stop();
  await strict?.stop();
  site?.close();
  if (folder) await rm(folder, { recursive: true, force: true });
});

test('a message is sent with everything that was typed', { skip }, async (context) => {
  let came;
  const message = new Promise((resolve) => (came = resolve));
  const other = await receiver('orders', ({ message: received, delivery }) => {
    delivery.accept();
    came(received);
  });
  context.after(() => other.end());
  await choose('orders');
  const form = sending();
  await form.getByLabel('Body', { exact: true }).selectOption('json');
  await form.getByLabel('Body text').fill('{"lines": [1, 2.5, "x"]}');
  await form.getByLabel('Message id').fill('m-1');
  await form.getByLabel('Subject').fill('a subject');
  await form.getByLabel('Reply to').fill('answers');
  await form.getByLabel('Correlation id').fill('c-1');
  await form.getByLabel('Content type').fill('application/json');
  await form.getByLabel('Time to live').fill('60000');
  await form.getByLabel('Priority').fill('7');
  await form.getByLabel('Durable').check();
  await form.getByRole('button', { name: 'Add property' }).click();
  await page.keyboard.type('n');
  await form.getByLabel('Type of property 1').selectOption('long');
  await form.getByLabel('Value of property 1').fill('many');
  await form.getByRole('button', { name: 'Send' }).click();
  await form.getByText(/A whole number from/).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), 'Name of property 1', 'what is wrong has the focus');
  await form.getByLabel('Value of property 1').fill('42');
  await form.getByLabel('Value of property 1').press('Enter');
  await form.getByRole('status').getByText('1 message of 1 sent: 1 accepted.').waitFor();
  const received = await message;
  assert.deepEqual(received.body, { lines: [1, 2.5, 'x'] });
  assert.deepEqual(received.application_properties, { n: 42 });
  const { message_id, subject, reply_to, correlation_id, content_type, priority, durable } = received;
  assert.deepEqual({ message_id, subject, reply_to, correlation_id, content_type, priority, durable }, {
    message_id: 'm-1', subject: 'a subject', reply_to: 'answers', correlation_id: 'c-1', content_type: 'application/json', priority: 7, durable: true,
  });
});

test('what was rejected is said with the receiver’s words', { skip }, async (context) => {
  const other = await receiver('refused', ({ delivery }) => delivery.reject({ condition: 'shop:closed', description: 'come back tomorrow' }));
  context.after(() => other.end());
  await choose('refused');
  await sending().getByLabel('How many').fill('3');
  await sending().getByRole('button', { name: 'Send' }).click();
  await sending().getByRole('status').getByText('3 messages of 3 sent: 3 rejected.').waitFor();
  await sending().getByText('shop:closed: come back tomorrow').waitFor();
});

test('where nobody receives it says that there is no credit, and can be stopped', { skip }, async () => {
  await choose('empty');
  await sending().getByLabel('How many').fill('1');
  await sending().getByRole('button', { name: 'Send' }).click();
  await sending().getByRole('status').getByText(/There is no credit/).waitFor();
  await sending().getByRole('button', { name: 'Stop sending' }).click();
  await sending().getByRole('status').getByText('Stopped. 0 messages of 1 sent.').waitFor();
});

test('messages are received, taken off, and shown with their sections', { skip }, async (context) => {
  await choose('incoming');
  await receiving().getByLabel('Messages', { exact: true }).selectOption('accept');
  await receiving().getByLabel('At most').fill('2');
  await receiving().getByLabel('Wait, seconds').fill('600');
  await receiving().getByRole('button', { name: 'Receive' }).click();
  await receiving().getByRole('status').getByText('0 of 2 came').waitFor();
  const large = { subject: 'large', body: 'y'.repeat(500_000) };
  const other = sender('incoming', [{ subject: 'hello', application_properties: { colour: 'red' }, body: { a: 1 } }, large]);
  context.after(() => other.end());
  await receiving().getByRole('status').getByText('2 messages received and taken off.').waitFor();
  await other.settled;
  assert.deepEqual(other.outcomes, ['accepted', 'accepted']);
  await messages().filter({ hasText: 'hello' }).locator('summary').click();
  await receiving().getByText('{"a": 1}').waitFor();
  await receiving().getByText('red').waitFor();
  await messages().filter({ hasText: 'large' }).locator('summary').click();
  await receiving().getByText(/of which the beginning is shown/).waitFor();
  assert.ok((await receiving().getByLabel('Body of message 2').innerText()).length < 20_000);
});

test('messages are given back', { skip }, async (context) => {
  await choose('borrowed');
  await receiving().getByLabel('Messages', { exact: true }).selectOption('release');
  await receiving().getByLabel('At most').fill('1');
  await receiving().getByLabel('Wait, seconds').fill('600');
  await receiving().getByRole('button', { name: 'Receive' }).click();
  const other = sender('borrowed', [{ body: 'x' }]);
  context.after(() => other.end());
  await receiving().getByRole('status').getByText('1 message received and given back.').waitFor();
  await other.settled;
  assert.deepEqual(other.outcomes, ['released']);
});

test('receiving ends when nothing comes, or by a button', { skip }, async () => {
  await choose('silence');
  await receiving().getByLabel('Wait, seconds').fill('1');
  await receiving().getByRole('button', { name: 'Receive' }).click();
  await receiving().getByRole('status').getByText('No message came.').waitFor();
  await receiving().getByLabel('Wait, seconds').fill('600');
  await receiving().getByRole('button', { name: 'Receive' }).click();
  await receiving().getByRole('button', { name: 'Stop receiving' }).click();
  await receiving().getByRole('status').getByText('No message came.').waitFor();
});

test('a queue is filled, looked at with a selector, and emptied', { skip: skip || !keeps }, async () => {
  await choose('kept');
  await sending().getByRole('button', { name: 'Add property' }).click();
  await page.keyboard.type('n');
  await sending().getByLabel('Type of property 1').selectOption('long');
  await sending().getByLabel('Value of property 1').fill('42');
  await sending().getByLabel('How many').fill('5');
  await sending().getByRole('button', { name: 'Send' }).click();
  await sending().getByRole('status').getByText('5 messages of 5 sent: 5 accepted.').waitFor();
  const receive = async (receipt, selector, wait, said) => {
    await receiving().getByLabel('Messages', { exact: true }).selectOption(receipt);
    await receiving().getByLabel('Selector').fill(selector);
    await receiving().getByLabel('Wait, seconds').fill(wait);
    await receiving().getByRole('button', { name: 'Receive' }).click();
    await receiving().getByRole('status').getByText(said).waitFor();
  };
  await receiving().getByLabel('At most').fill('5');
  await receive('browse', 'n = 42', '600', '5 messages looked at.');
  await receive('browse', 'n = 43', '2', 'No message came.');
  await receive('release', '', '600', '5 messages received and given back.');
  await receive('accept', '', '600', '5 messages received and taken off.');
  await receive('browse', '', '2', 'No message came.');
});

test('what was typed stays while one looks at other pages', { skip }, async () => {
  await choose('orders');
  await sending().getByLabel('Subject').fill('unfinished');
  await receiving().getByLabel('Selector').fill('n = 1');
  await go(page, 'overview', 'Overview');
  await go(page, 'messages?address=orders', 'Messages');
  assert.equal(await sending().getByLabel('Subject').inputValue(), 'unfinished');
  assert.equal(await receiving().getByLabel('Selector').inputValue(), 'n = 1');
});

test('without an address nothing is sent, and that is said', { skip }, async () => {
  await choose('');
  await sending().getByRole('button', { name: 'Send' }).click();
  await sending().getByRole('alert').getByText('Say which address.').waitFor();
});

test('addresses that are known are offered, and their details lead here', { skip }, async (context) => {
  const other = await receiver('known', ({ delivery }) => delivery.accept());
  context.after(() => other.end());
  await choose('');
  await page.locator('datalist option[value=known]').waitFor({ state: 'attached' });
  await go(page, 'addresses', 'Addresses');
  await page.getByRole('row').filter({ hasText: 'known' }).first().click();
  await page.getByRole('link', { name: 'Send or receive' }).click();
  await page.getByRole('heading', { level: 1, name: 'Messages' }).waitFor();
  assert.equal(await page.getByLabel('Address', { exact: true }).inputValue(), 'known');
});

test('what policy forbids is said so, and the console stays connected', { skip }, async () => {
  const guest = await open(chromium.context, `${site.url}?router=127.0.0.1:${strict.http}`);
  await guest.getByRole('heading', { name: 'Overview' }).waitFor();
  await go(guest, 'messages?address=secret', 'Messages');
  const form = (name) => guest.getByRole('form', { name });
  await form('Send').getByRole('button', { name: 'Send' }).click();
  await form('Send').getByRole('status').getByText(/This user may not send to secret\. .*amqp:unauthorized-access/).waitFor();
  await form('Receive').getByRole('button', { name: 'Receive' }).click();
  await form('Receive').getByRole('status').getByText(/This user may not receive from secret\. .*amqp:unauthorized-access/).waitFor();
  await guest.getByLabel('Address', { exact: true }).fill('open');
  await form('Receive').getByLabel('Messages', { exact: true }).selectOption('accept');
  await form('Receive').getByLabel('At most').fill('1');
  await form('Receive').getByLabel('Wait, seconds').fill('600');
  await form('Receive').getByRole('button', { name: 'Receive' }).click();
  await form('Receive').getByRole('status').getByText('0 of 1 came').waitFor();
  await form('Send').getByRole('button', { name: 'Send' }).click();
  await form('Send').getByRole('status').getByText('1 message of 1 sent: 1 accepted.').waitFor();
  assert.deepEqual(guest.problems, []);
  await guest.close();
});

test('the page is accessible with messages on it, in both colours', { skip }, async () => {
  const folder = process.env.SCREENSHOTS;
  if (folder) await mkdir(folder, { recursive: true });
  await choose('shown');
  await receiving().getByLabel('Messages', { exact: true }).selectOption('accept');
  await receiving().getByLabel('At most').fill('1');
  await receiving().getByLabel('Wait, seconds').fill('600');
  await receiving().getByRole('button', { name: 'Receive' }).click();
  await receiving().getByRole('status').getByText('0 of 1 came').waitFor();
  await sending().getByLabel('How many').fill('1');
  await sending().getByRole('button', { name: 'Send' }).click();
  await receiving().getByRole('status').getByText('1 message received and taken off.').waitFor();
  await messages().first().locator('summary').click();
  await page.evaluate(await readFile(AXE, 'utf8'));
  for (const colours of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme: colours });
    if (folder) await page.screenshot({ path: `${folder}/messages-used-${colours}.png` });
    const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
    assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes[0].html.slice(0, 200)}`), []);
  }
});

test('nothing went wrong inside the page', { skip }, () => assert.deepEqual(page.problems, []));
