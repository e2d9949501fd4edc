// What an operator should look at: conditions that routers report about themselves.
import type { RouterNode } from './network';
import type { Source } from './source';

export interface Concern {
  key: string;
  tone: 'bad' | 'warn';
  router: string;
  text: string;
  /** The page that tells more. */
  page: string;
}

export interface Condition {
  router: RouterNode;
  self: Source;
  connectors: Source;
  autoLinks: Source;
  linkRoutes: Source;
}

const some = (value: unknown) => (typeof value === 'number' && value > 0 ? value : 0);

export function concerns(conditions: readonly Condition[]): Concern[] {
  return conditions.flatMap((condition) => [...ofRouter(condition), ...ofConnectors(condition), ...ofAutoLinks(condition), ...ofLinkRoutes(condition)]);
}

function ofRouter({ router, self }: Condition): Concern[] {
  if (self.error) return [concern(router, 'bad', 'silent', self.error, 'overview')];
  const row = self.rows[0];
  if (!row) return [];
  const result = [];
  const blocked = some(row['linksBlocked']);
  if (blocked) result.push(concern(router, 'warn', 'blocked', `${plural(blocked, 'link has', 'links have')} had no credit for more than 10 s.`, 'links'));
  const dropped = self.rate(String(row['identity']), 'droppedPresettledDeliveries');
  if (dropped) result.push(concern(router, 'warn', 'dropped', `Presettled deliveries are being dropped, ${dropped.toFixed(1)} a second.`, 'links'));
  const stuck = some(row['deliveriesStuck']);
  if (stuck) result.push(concern(router, 'warn', 'stuck', `${plural(stuck, 'delivery has', 'deliveries have')} been unsettled for more than 10 s.`, 'links'));
  return result;
}

function ofConnectors({ router, connectors }: Condition): Concern[] {
  return connectors.rows
    .filter((row) => row['connectionStatus'] && row['connectionStatus'] !== 'SUCCESS')
    .map((row) => concern(router, 'bad', `connector ${row['identity']}`, `Connector ${row['name']}: ${reason(row['connectionMsg'], String(row['connectionStatus']).toLowerCase())}`, 'connectors'));
}

function ofAutoLinks({ router, autoLinks }: Condition): Concern[] {
  return autoLinks.rows
    .filter((row) => row['operStatus'] === 'failed')
    .map((row) => concern(router, 'bad', `auto-link ${row['identity']}`, `Auto-link ${row['direction']} of ${row['address']} failed: ${reason(row['lastError'], 'no reason given')}`, 'auto-links'));
}

function ofLinkRoutes({ router, linkRoutes }: Condition): Concern[] {
  return linkRoutes.rows
    .filter((row) => row['operStatus'] === 'inactive')
    .map((row) => concern(router, 'warn', `link route ${row['identity']}`, `Link route ${row['direction']} of ${row['prefix'] ?? row['pattern']} is inactive: its connection is not there.`, 'link-routes'));
}

function concern(router: RouterNode, tone: Concern['tone'], what: string, text: string, page: string): Concern {
  return { key: `${router.id} ${what}`, tone, router: router.id, text, page };
}

const reason = (text: unknown, otherwise: string) => String(text || otherwise);
const plural = (amount: number, one: string, many: string) => `${amount} ${amount === 1 ? one : many}`;
