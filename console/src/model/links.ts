// What rows of `router.link` say together.
import type { Row } from './operations';

const NEEDED = ['linkType', 'linkDir', 'undeliveredCount', 'unsettledCount'];

/**
 * Deliveries on their way to receivers: those that wait at the routers, and those that receivers have not settled. Links between routers do not count. Null
 * where rows do not say it, since others had asked for them.
 */
export function inFlight(routers: readonly (readonly Row[])[]): { waiting: number; unsettled: number } | null {
  const sums = { waiting: 0, unsettled: 0 };
  for (const rows of routers) {
    for (const row of rows) {
      if (NEEDED.some((name) => row[name] === undefined)) return null;
      if (row['linkType'] !== 'endpoint' || row['linkDir'] !== 'out') continue;
      sums.waiting += Number(row['undeliveredCount'] ?? 0);
      sums.unsettled += Number(row['unsettledCount'] ?? 0);
    }
  }
  return sums;
}
