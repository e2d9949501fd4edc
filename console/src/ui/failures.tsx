import { session, type View } from '../app';
import { clock } from '../model/format';
import { failures } from '../model/items';

/** Says which routers are not heard, above the rows of those that are. */
export function Failures({ views }: { views: readonly View[] }) {
  const silent = failures(views);
  if (!silent.length) return null;
  const shown = silent.slice(0, 3);
  return (
    <div class="banner warn" role="status">
      <span>
        {shown.map(({ router, text, at }) => (
          <span key={router} class="failure">
            <b>▲ {router}:</b> {text} {at ? `Shown as of ${clock(at)}.` : 'Nothing is known of it yet.'}{' '}
          </span>
        ))}
        {silent.length > shown.length && `And ${silent.length - shown.length} more routers.`}
      </span>
      <span class="spacer" />
      <button type="button" onClick={() => session.poller.refresh()}>Ask again</button>
    </div>
  );
}

/** True until there is a first answer or failure from each router. */
export function waiting(views: readonly View[]): boolean {
  return views.length === 0 || views.some(({ source }) => !source.at && !source.error);
}
