// What a person must hear of at once: lost connections, routers that left.
import { useEffect, useState } from 'preact/hooks';
import { session, useStore } from '../app';
import { clock } from '../model/format';

/** While the connection is away: since when, why, and when it is tried again. */
export function ConnectionBanner() {
  const state = useStore(session.state);
  const [, tick] = useState(0);
  const away = state.phase === 'reconnecting';
  useEffect(() => {
    if (!away) return;
    const timer = setInterval(() => tick((count) => count + 1), 1_000);
    return () => clearInterval(timer);
  }, [away]);
  if (state.phase !== 'reconnecting') return null;
  const wait = Math.max(0, Math.ceil((state.nextAt - Date.now()) / 1_000));
  return (
    <div class="banner bad" role="alert">
      <span>
        <b>Not connected since {clock(state.lostAt)}.</b> {state.reason} What you see is as it was then.
      </span>
      <span class="spacer" />
      <span aria-hidden="true">{wait ? `Trying again in ${wait} s` : 'Trying again…'}</span>
      <button type="button" onClick={() => session.retryNow()}>Try now</button>
    </div>
  );
}

/** Says new notices aloud, and shows them for a while. */
export function Announcer() {
  const notices = useStore(session.notices);
  const [dismissed, setDismissed] = useState(0);
  const [now, setNow] = useState(Date.now());
  const fresh = notices.filter((notice) => notice.id > dismissed && now - notice.at < SHOWN).slice(0, 3);
  useEffect(() => {
    setNow(Date.now());
    const timer = setTimeout(() => setNow(Date.now()), SHOWN + 100);
    return () => clearTimeout(timer);
  }, [notices]);
  return (
    <div class="notices" role="status" aria-live="polite">
      {fresh.map((notice) => (
        <div key={notice.id} class={`notice ${notice.tone}`}>
          <span>{notice.text}</span>
          <button type="button" class="icon" aria-label="Dismiss" onClick={() => setDismissed(notice.id)}>✕</button>
        </div>
      ))}
    </div>
  );
}

const SHOWN = 8_000;
