// The console in Chromium, over a network of routers.
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import { browser, go, open, serve } from './browser.mjs';
import { eventually, guarded, network } from './network.mjs';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const skip = process.env.WAYSTATION_PROGRAMS ? false : 'WAYSTATION_PROGRAMS does not say where qdrouterd is';
let routers;
let site;
let chromium;
let page;

const consoleOf = (router) => `${site.url}?router=127.0.0.1:${router.http}`;
const row = (text) => page.getByRole('row').filter({ hasText: text });
const cell = (text, column) => row(text).first().getByRole('gridcell').nth(column);

/** A number in a cell that becomes more than nothing. */
async function positive(locator, what) {
  await eventually(async () => Number.parseFloat((await locator.innerText()).replace(/,/g, '')) > 0, what);
}

before(async () => {
  if (skip) return;
  [routers, site, chromium] = await Promise.all([network(), serve(), browser()]);
  const { traffic } = routers;
  traffic.sender('orders-sender', 'A', 'orders', 60);
  traffic.sender('edge-sender', 'E', 'orders', 20);
  traffic.receiver('orders-worker', 'B', 'orders');
  traffic.sender('stalled-sender', 'A', 'stalled', 30);
  traffic.receiver('stalled-worker', 'B', 'stalled', 3);
  traffic.sender('lonely-sender', 'A', 'nobody', 5);
  page = await open(chromium.context, consoleOf(routers.a));
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
});

after(async () => {
  await chromium?.end();
  await routers?.end();
  site?.close();
});

test('the overview shows all routers, how much goes through them, and what is wrong', { skip }, async () => {
  for (const id of ['A', 'B', 'E']) await page.getByRole('grid', { name: 'Routers' }).getByRole('row', { name: new RegExp(`^${id}\\b`) }).waitFor();
  await positive(page.locator('.tile', { hasText: 'deliveries/s' }).first().locator('.tile-value'), 'a rate on the tile');
  await page.getByRole('region', { name: 'Attention' }).getByText(/Connector nowhere: /).waitFor();
  await positive(page.getByRole('region', { name: 'Busiest addresses' }).getByRole('row', { name: /^orders / }).getByRole('cell').first(), 'a rate of orders');
  await page.getByRole('img', { name: /^In flight: waiting: now [1-9]/ }).waitFor();
  await page.getByLabel('Charts of the last').selectOption('hour');
  await page.getByRole('img', { name: /^Deliveries: in: now / }).waitFor();
});

test('the map shows the network and can be walked with the keyboard', { skip }, async () => {
  await go(page, 'topology', 'Topology');
  await page.getByText(/2 routers, 1 edge router/).waitFor();
  await page.getByText(/6 clients/).waitFor();
  const map = page.locator('canvas');
  await eventually(() => map.evaluate((canvas) => new Set(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data).size > 20), 'something is drawn');
  await map.focus();
  await page.keyboard.press('ArrowRight');
  await page.getByText(/^router A, \d+ links$/).waitFor({ state: 'attached' });
  await page.keyboard.press('Enter');
  const details = page.getByRole('complementary', { name: 'A' });
  await details.getByRole('button', { name: 'edge router E' }).waitFor();
  await details.getByRole('button', { name: 'router B', exact: true }).click();
  await page.getByRole('complementary', { name: 'B' }).getByRole('button', { name: /receivers? at B/ }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('complementary').waitFor({ state: 'detached' });
});

test('an address is followed over the map', { skip }, async () => {
  await go(page, 'topology', 'Topology');
  await page.getByLabel('Traffic shown').selectOption({ label: 'only orders' });
  await page.getByText(/^orders: .*A → B [\d.]+\/s/).waitFor();
  await page.getByLabel('Traffic shown').selectOption('');
});

test('the same network is there as a list, with rates', { skip }, async () => {
  await go(page, 'topology?list=yes', 'Topology');
  await positive(page.getByRole('row', { name: /^router A / }).getByRole('gridcell').nth(4), 'A sends to its neighbours');
  await page.getByRole('row', { name: /^edge router E / }).getByText(/router A/).waitFor();
});

test('addresses have rates and consumers of each router', { skip }, async () => {
  await go(page, 'addresses', 'Addresses');
  await positive(cell('orders', 3), 'orders come in');
  await cell('orders', 2).getByText('1', { exact: true }).waitFor();
  await cell('orders', 5).getByText('B 1', { exact: true }).waitFor();
  await row('orders').first().click();
  const details = page.getByRole('complementary', { name: 'orders' });
  await details.getByRole('row', { name: /^A 0 / }).waitFor();
  await details.getByRole('img', { name: /^In at/ }).first().waitFor();
});

test('links that do not move say why', { skip }, async () => {
  await go(page, 'links?blocked=yes', 'Links');
  await row('nobody').getByText(/No consumers for this address/).waitFor();
  await row('stalled-worker').getByText(/the receiver gives no credit/).waitFor();
});

test('a table is walked, opened and sorted with the keyboard', { skip }, async () => {
  // Its rows do not change places by themselves.
  await go(page, 'listeners', 'Listeners');
  await row('web').nth(2).waitFor();
  await page.getByRole('columnheader', { name: 'Cost' }).getByRole('button').press('Enter');
  await page.locator('th[aria-sort=descending]', { hasText: 'Cost' }).waitFor();
  await page.locator('tbody tr[tabindex="0"]').focus();
  await page.keyboard.press('ArrowDown');
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-rowindex')), '3', 'the second row has the focus');
  await page.keyboard.press('Enter');
  await page.getByRole('complementary').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('complementary').waitFor({ state: 'detached' });
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-rowindex')), '3', 'the focus is back on the row');
});

test('details and dialogs have the focus when they are rendered, before any key can come', { skip }, async () => {
  await go(page, 'listeners', 'Listeners');
  /** Where the focus is when a click has rendered what it opens, in the same turn of the page's event loop. */
  const focused = (locator, opens) => locator.evaluate(async (element, selector) => {
    element.click();
    for (let turn = 0; turn < 100 && !document.querySelector(selector); turn += 1) await undefined;
    return document.activeElement.closest(selector) !== null;
  }, opens);
  assert.ok(await focused(row('web').first(), 'aside.drawer'));
  const remove = page.getByRole('complementary').getByRole('button', { name: 'Delete…' });
  assert.ok(await focused(remove, 'dialog'));
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});

test('a connection is closed', { skip }, async () => {
  const victim = routers.traffic.receiver('victim', 'B', 'victims');
  const closed = new Promise((resolve) => victim.once('disconnected', resolve));
  await go(page, 'connections?q=victim', 'Connections');
  await row('victim').first().click();
  await page.getByRole('button', { name: 'Close connection…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Close connection' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await closed;
});

test('failing connectors, auto-links and link routes are shown with their state', { skip }, async () => {
  await go(page, 'connectors', 'Connectors');
  await row('nowhere').getByText(/connecting|failed/).first().waitFor();
  await row('to-A').getByText('connected').waitFor();
  await go(page, 'auto-links', 'Auto-links');
  await row('queue.one').getByText('inactive').waitFor();
  await go(page, 'link-routes', 'Link routes');
  await row('store').getByText('inactive').waitFor();
});

test('an entity is created by a form, found and deleted', { skip }, async () => {
  await go(page, 'entities/address', 'Entities');
  await page.getByRole('button', { name: 'Create…' }).click();
  const form = page.getByRole('dialog', { name: 'Create address' });
  await form.getByLabel(/^priority/).fill('many');
  await form.getByLabel(/^prefix/).fill('made.here');
  await form.getByLabel(/^distribution/).selectOption('multicast');
  await form.getByRole('button', { name: 'Create', exact: true }).click();
  await form.getByText('A whole number is needed here.').waitFor();
  await form.getByLabel(/^priority/).fill('7');
  await form.getByLabel('On', { exact: true }).selectOption('B');
  await form.getByRole('button', { name: 'Create', exact: true }).click();
  await form.waitFor({ state: 'detached' });
  await row('made.here').click();
  const details = page.getByRole('complementary');
  await details.getByText('multicast').waitFor();
  await details.getByRole('button', { name: 'Delete…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await row('made.here').waitFor({ state: 'detached' });
});

test('an entity is changed by a form that asks only for what can be changed', { skip }, async () => {
  await go(page, 'entities/log?q=MESSAGE', 'Entities');
  await row('MESSAGE').filter({ hasText: 'B' }).first().click();
  await page.getByRole('complementary').getByRole('button', { name: 'Change…' }).click();
  const form = page.getByRole('dialog', { name: /^Change log/ });
  assert.equal(await form.getByLabel(/^module/).count(), 0);
  await form.getByLabel(/^enable/).fill('warning+');
  await form.getByRole('button', { name: 'Save' }).click();
  await form.waitFor({ state: 'detached' });
  await page.getByRole('complementary').getByText('warning+').waitFor();
  await page.keyboard.press('Escape');
});

test('what the router refuses is said in its own words', { skip }, async () => {
  await go(page, 'entities/autoLink', 'Entities');
  await page.getByRole('button', { name: 'Create…' }).click();
  const form = page.getByRole('dialog', { name: 'Create autoLink' });
  await form.getByRole('button', { name: 'Create', exact: true }).click();
  await form.getByText('This must be given.').first().waitFor();
  await form.getByLabel(/^address/).fill('x');
  await form.getByLabel(/^direction/).selectOption('in');
  await form.getByLabel(/^connection/).fill('one');
  await form.getByLabel(/^containerId/).fill('two');
  await form.getByRole('button', { name: 'Create', exact: true }).click();
  await form.getByRole('alert').getByText(/^■ A: /).waitFor();
  await page.keyboard.press('Escape');
});

test('the level of a module is changed on the spot, and its entries come', { skip }, async () => {
  await go(page, 'logs?levels=yes&module=AGENT', 'Logs');
  await page.getByLabel('Level of AGENT').selectOption('debug+');
  await page.getByText(/AGENT on A logs debug and worse/).waitFor();
  await row('AGENT').getByText(/Agent request/).first().waitFor();
  await page.getByLabel('Level of AGENT').selectOption('default');
});

test('the schema can be read', { skip }, async () => {
  await go(page, 'schema', 'Schema');
  await page.getByLabel('Filter types and attributes').fill('idleTimeout');
  await page.getByRole('link', { name: 'connector', exact: true }).click();
  await page.getByRole('row', { name: /idleTimeoutSeconds integer/ }).waitFor();
});

test('the flow of messages has a row for where they come in and a column for where they go out', { skip }, async () => {
  await go(page, 'flow', 'Message flow');
  const entry = page.getByRole('row', { name: /^orders A B / });
  await entry.waitFor();
  await positive(entry.getByRole('cell').nth(2), 'a rate from A to B');
});

test('a number is put on the page of charts and taken off again', { skip }, async () => {
  await go(page, 'links?q=orders-worker', 'Links');
  await row('orders-worker').first().click();
  await page.getByRole('button', { name: 'Chart of deliveryCount' }).click();
  await go(page, 'charts', 'Charts');
  await page.getByRole('img', { name: /^deliveryCount of router.link .* at B: rate: now [1-9]/ }).waitFor();
  await page.getByRole('button', { name: /^Remove chart/ }).click();
  await page.getByText(/^No charts yet/).waitFor();
});

const ALL = [
  ['overview', 'Overview'], ['topology', 'Topology'], ['topology?list=yes', 'Topology'], ['flow', 'Message flow'], ['charts', 'Charts'], ['addresses', 'Addresses'], ['queues', 'Queues'], ['messages', 'Messages'], ['links', 'Links'], ['connections', 'Connections'],
  ['listeners', 'Listeners'], ['connectors', 'Connectors'], ['auto-links', 'Auto-links'], ['link-routes', 'Link routes'], ['logs?levels=yes', 'Logs'], ['entities', 'Entities'], ['schema', 'Schema'], ['notices', 'Notices'],
];

for (const colours of ['light', 'dark']) {
  test(`every page is accessible in ${colours} colours`, { skip }, async () => {
    await page.emulateMedia({ colorScheme: colours });
    const found = [];
    for (const [hash, title] of ALL) {
      await go(page, hash, title);
      await page.getByText(/Asking the router/).waitFor({ state: 'detached' });
      await keep(`${hash.replace(/\W+/g, '-')}-${colours}`);
      await page.evaluate(() => window.axe !== undefined) || await page.evaluate(await axe());
      const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
      found.push(...violations.map(({ id, nodes }) => `${hash}: ${id}: ${nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(' | ')}`));
    }
    assert.deepEqual(found, []);
  });
}

let source;
async function axe() {
  const { readFile } = await import('node:fs/promises');
  return (source ??= await readFile(AXE, 'utf8'));
}

/** Pictures for a person to look at, where one is wanted. */
async function keep(name) {
  const folder = process.env.SCREENSHOTS;
  if (!folder) return;
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: `${folder}/${name}.png` });
}

test('from an edge router the whole network is seen', { skip }, async () => {
  const edge = await open(chromium.context, consoleOf(routers.e));
  for (const id of ['A', 'B', 'E']) await edge.getByRole('grid', { name: 'Routers' }).getByRole('row', { name: new RegExp(`^${id}\\b`) }).waitFor();
  assert.deepEqual(edge.problems, []);
  await edge.close();
});

test('a router that dies is named, and the others go on', { skip }, async (context) => {
  await go(page, 'connections', 'Connections');
  await row('orders-worker').first().waitFor();
  await routers.b.stop();
  context.after(() => routers.b.start());
  await page.getByText(/B: .*(cannot be reached|did not answer)|Router B left the network/).first().waitFor();
  await row('orders-sender').first().waitFor();
});

test('a lost connection is said and comes back by itself', { skip }, async (context) => {
  await go(page, 'overview', 'Overview');
  await routers.a.stop();
  context.after(() => routers.a.running || routers.a.start());
  await page.getByRole('alert').getByText(/Not connected since/).waitFor();
  await page.getByRole('row', { name: /^A\b/ }).waitFor();
  await routers.a.start();
  await page.getByRole('alert').getByText(/Not connected since/).waitFor({ state: 'detached' });
  // The notice is there for seconds only, on its page for good.
  await go(page, 'notices', 'Notices');
  await page.getByRole('main').getByText(/Connected to A again after \d+ s/).first().waitFor();
});

test('a router that serves the console serves one that connects to it', { skip }, async (context) => {
  const own = `http://127.0.0.1:${routers.b.http}/`;
  const served = await fetch(own).then((response) => response.text());
  if (!served.includes('<title>Waystation')) return context.skip('this router has no console of its own');
  const direct = await open(chromium.context, own);
  await direct.getByRole('grid', { name: 'Routers' }).getByRole('row', { name: /^B connected/ }).waitFor();
  assert.deepEqual(direct.problems, []);
  await direct.close();
});

test('where the listener asks for it one signs in with a user name and a password', { skip }, async (context) => {
  const router = await guarded();
  context.after(() => router.end());
  const door = await open(chromium.context, consoleOf(router));
  const enter = async (password) => {
    await door.getByLabel('User name').fill('admin@console');
    await door.getByLabel('Password').fill(password);
    await door.getByRole('button', { name: 'Connect', exact: true }).click();
  };
  await door.getByText('This listener asks for a user name and a password.').waitFor();
  assert.equal(await door.evaluate(() => document.activeElement.autocomplete), 'username', 'the user name has the focus');
  await enter('wrong');
  await door.getByText('The router did not accept this user name and password.').waitFor();
  await enter('sécret');
  await door.getByRole('grid', { name: 'Routers' }).getByRole('row', { name: /^S\b/ }).waitFor();
  assert.deepEqual(door.problems, []);
  await door.close();
});

test('disconnecting leads back to where one can connect again', { skip }, async () => {
  await page.getByRole('button', { name: 'Disconnect' }).click();
  await page.getByRole('button', { name: 'Connect', exact: true }).waitFor();
  await page.getByLabel('Router’s HTTP listener').fill('127.0.0.1:1');
  await page.getByRole('button', { name: 'Connect', exact: true }).click();
  await page.getByRole('alert').getByText(/No connection to ws:\/\/127.0.0.1:1\//).waitFor();
});

test('nothing went wrong inside the page', { skip }, () => assert.deepEqual(page.problems, []));
