// The frame around all pages, and the pages by their names.
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { session, useStore } from '../app';
import { firstUrl } from '../model/target';
import { AddressesPage } from '../pages/addresses';
import { ConnectionsPage } from '../pages/connections';
import { EntitiesPage } from '../pages/entities';
import { FlowPage } from '../pages/flow';
import { LinksPage } from '../pages/links';
import { ConnectorsPage, ListenersPage } from '../pages/listeners';
import { AutoLinksPage, LinkRoutesPage } from '../pages/routes';
import { LogsPage } from '../pages/logs';
import { MessagesPage } from '../pages/messages';
import { NoticesPage } from '../pages/notices';
import { OverviewPage } from '../pages/overview';
import { QueuesPage } from '../pages/queues';
import { ChartsPage } from '../pages/charts';
import { SchemaPage } from '../pages/schema';
import { SignIn } from '../pages/sign-in';
import { TopologyPage } from '../pages/topology';
import { useRoute } from '../route';
import { Header } from './header';
import { Navigation } from './navigation';
import { ConnectionBanner, Announcer } from './status';

export const PAGES: Record<string, ComponentType> = {
  overview: OverviewPage,
  topology: TopologyPage,
  flow: FlowPage,
  charts: ChartsPage,
  addresses: AddressesPage,
  queues: QueuesPage,
  messages: MessagesPage,
  links: LinksPage,
  connections: ConnectionsPage,
  listeners: ListenersPage,
  connectors: ConnectorsPage,
  'auto-links': AutoLinksPage,
  'link-routes': LinkRoutesPage,
  logs: LogsPage,
  entities: EntitiesPage,
  schema: SchemaPage,
  notices: NoticesPage,
};

export function Console() {
  const state = useStore(session.state);
  const { page } = useRoute();
  useEffect(() => session.signIn({ url: firstUrl(location) }), []);

  if (state.phase === 'signed-out' || (state.phase === 'connecting' && !session.peer.get())) {
    return <SignIn busy={state.phase === 'connecting'} />;
  }
  const Content = PAGES[page] ?? OverviewPage;
  return (
    <div class="frame">
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); document.querySelector<HTMLElement>('#main h1')?.focus(); }}>Skip to content</a>
      <Header />
      <Navigation page={PAGES[page] ? page : 'overview'} />
      <div class="content">
        <ConnectionBanner />
        <Content key={page} />
      </div>
      <Announcer />
    </div>
  );
}
