// Above all pages: which network, which of its routers, and how one stands with it.
import { ALL, scope, session, useScope, useStore } from '../app';
import { href } from '../route';
import { Badge, Select } from './parts';
import { chooseTheme, theme, type Theme } from './theme';

export function Header() {
  const state = useStore(session.state);
  const peer = useStore(session.peer);
  const notices = useStore(session.notices);
  const network = useStore(session.network);
  const chosen = useScope();
  const options = [
    { value: ALL, label: network.routers.length === 1 ? 'the router' : `all ${network.routers.length} routers` },
    ...network.routers.map((router) => ({ value: router.id, label: `${router.id}${router.kind === 'edge' ? ' (edge)' : ''}${router.own ? ' – connected' : ''}` })),
  ];
  return (
    <header class="top">
      <a class="brand" href={href('overview')}>
        <img src="./icon.svg" alt="" width="22" height="22" /> Waystation
      </a>
      {network.routers.length > 1 && <Select label="Showing" value={chosen} options={options} onChange={(value) => scope.set(value)} />}
      <span class="spacer" />
      <span class="peer" title={session.target?.url}>
        {state.phase === 'open' ? <Badge tone="good">{peer?.container ?? 'connected'}</Badge> : <Badge tone="bad">{state.phase === 'reconnecting' ? 'connection lost' : 'connecting…'}</Badge>}
      </span>
      <a class="quiet-link" href={href('notices')}>Notices{notices.length > 0 && ` (${notices.length})`}</a>
      <Select
        hideLabel
        label="Colours"
        value={useStore(theme)}
        options={[{ value: 'auto', label: 'System colours' }, { value: 'light', label: 'Light' }, { value: 'dark', label: 'Dark' }]}
        onChange={(value) => chooseTheme(value as Theme)}
      />
      <button type="button" class="quiet" onClick={() => session.signOut()}>Disconnect</button>
    </header>
  );
}
