import { href } from '../route';

const GROUPS: [string, [string, string][]][] = [
  ['Network', [['overview', 'Overview'], ['topology', 'Topology'], ['flow', 'Message flow'], ['charts', 'Charts']]],
  ['Traffic', [['addresses', 'Addresses'], ['queues', 'Queues'], ['messages', 'Messages'], ['links', 'Links'], ['connections', 'Connections']]],
  ['Configuration', [['listeners', 'Listeners'], ['connectors', 'Connectors'], ['auto-links', 'Auto-links'], ['link-routes', 'Link routes']]],
  ['Management', [['logs', 'Logs'], ['entities', 'Entities'], ['schema', 'Schema']]],
];

export function Navigation({ page }: { page: string }) {
  return (
    <nav class="navigation" aria-label="Pages">
      {GROUPS.map(([group, pages]) => (
        <section key={group} aria-label={group}>
          <h2>{group}</h2>
          <ul>
            {pages.map(([name, title]) => (
              <li key={name}>
                <a href={href(name)} aria-current={name === page ? 'page' : undefined}>{title}</a>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </nav>
  );
}
