import { session, useStore } from '../app';
import { clock } from '../model/format';
import { Badge, Page } from '../ui/parts';

const TONES = { info: 'quiet', good: 'good', bad: 'bad' } as const;
const WORDS = { info: 'note', good: 'good', bad: 'trouble' };

/** What has happened since the console was opened. */
export function NoticesPage() {
  const notices = useStore(session.notices);
  return (
    <Page title="Notices" note="What has happened since this page was opened.">
      {notices.length === 0 && <p class="empty">Nothing so far.</p>}
      <ol class="notice-list">
        {notices.map((notice) => (
          <li key={notice.id}>
            <time>{clock(notice.at)}</time>
            <Badge tone={TONES[notice.tone]}>{WORDS[notice.tone]}</Badge>
            <span>{notice.text}</span>
          </li>
        ))}
      </ol>
    </Page>
  );
}
