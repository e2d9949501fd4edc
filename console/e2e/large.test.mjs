// Three hundred routers: the console stays usable. How fast it was is printed, since a busy machine is no fault of it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { browser, go, open, serve } from './browser.mjs';
import { eventually } from './network.mjs';
import { madeUp } from './made-up.mjs';

const ROUTERS = 300;
let router;
let site;
let chromium;
let page;

before(async () => {
  [router, site, chromium] = await Promise.all([madeUp(ROUTERS), serve(), browser()]);
  page = await open(chromium.context, `${site.url}?router=127.0.0.1:${router.http}`);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.getByLabel('Showing').locator('option').nth(ROUTERS).waitFor({ state: 'attached' });
});

after(async () => {
  await chromium?.end();
  router?.end();
  site?.close();
});

/** The times between frames while something is done, in milliseconds. */
async function frames(act) {
  await page.evaluate(() => {
    window.frameTimes = [];
    const count = (time) => window.frameTimes?.push(time) && requestAnimationFrame(count);
    requestAnimationFrame(count);
  });
  await act();
  const times = await page.evaluate(() => { const all = window.frameTimes; window.frameTimes = undefined; return all; });
  const gaps = times.slice(1).map((time, index) => time - times[index]).sort((a, b) => a - b);
  const part = (share) => Math.round(gaps[Math.floor(gaps.length * share)] ?? 0);
  return `${gaps.length} frames, median ${part(0.5)} ms, 95% ${part(0.95)} ms, longest ${Math.round(gaps[gaps.length - 1] ?? 0)} ms`;
}

/** Moves the pointer over the map and turns its wheel. */
async function handle() {
  const box = await page.locator('canvas').boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  for (let step = 0; step < 40; step += 1) {
    await page.mouse.move(x + 200 * Math.sin(step / 4), y + 120 * Math.cos(step / 4));
    await page.mouse.wheel(0, step % 8 < 4 ? -60 : 60);
  }
}

test('with very many routers one is shown to begin with', async () => {
  assert.equal(await page.getByLabel('Showing').inputValue(), 'R0');
});

test('the map of three hundred routers comes, and can be handled while it is live', async (context) => {
  await page.getByLabel('Showing').selectOption('*');
  await go(page, 'topology', 'Topology');
  context.diagnostic(`while it comes: ${await frames(() => page.getByText(`${ROUTERS} routers, ${ROUTERS * 6} clients`).waitFor())}`);
  context.diagnostic(`while it is handled: ${await frames(handle)}`);
  await page.getByRole('button', { name: 'Fit' }).click();
  await eventually(() => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => done(true)))), 'a frame is drawn');
  if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/large.png` });
});

test('tables of twenty thousand links can be scrolled and filtered', async (context) => {
  await go(page, 'links?internal=yes', 'Links');
  const note = page.locator('.page-head .note');
  await eventually(async () => Number((await note.innerText()).split(' ')[0].replace(/,/g, '')) > 27_000, 'all links are there');
  context.diagnostic(`while it is scrolled: ${await frames(async () => {
    for (let step = 0; step < 30; step += 1) await page.locator('.table-box').evaluate((box) => { box.scrollTop += 900; });
  })}`);
  await page.getByLabel('Filter links').fill('client-R299-3');
  await page.getByRole('row').filter({ hasText: 'client-R299-3' }).waitFor();
  assert.ok((await page.getByRole('row').count()) < 60, 'only the rows in view are in the page');
});

test('the overview of all of them comes', async () => {
  await page.getByLabel('Showing').selectOption('*');
  await go(page, 'overview', 'Overview');
  await eventually(async () => Number.parseFloat((await page.locator('.tile', { hasText: 'deliveries/s' }).first().locator('.tile-value').innerText()).replace(/,/g, '')) > 1_000, 'the sum of all rates');
  assert.deepEqual(page.problems, []);
});
