// Rows of several routers in one list.
import type { RouterNode } from './network';
import type { Row } from './operations';
import { identityOf, type Source } from './source';

export interface Item {
  key: string;
  router: RouterNode;
  source: Source;
  identity: string;
  row: Row;
}

export function items(views: readonly { router: RouterNode; source: Source }[]): Item[] {
  return views.flatMap(({ router, source }) =>
    source.rows.map((row, index) => {
      const identity = identityOf(row, index);
      return { key: `${router.id}/${identity}`, router, source, identity, row };
    }),
  );
}

/** Routers that did not answer the last time, with the reason. */
export function failures(views: readonly { router: RouterNode; source: Source }[]): { router: string; text: string; at: number }[] {
  return views.filter(({ source }) => source.error).map(({ router, source }) => ({ router: router.id, text: source.error!, at: source.at }));
}
