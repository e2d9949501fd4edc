import { useEffect, useMemo, useState } from 'preact/hooks';
import { session, useEntities, useScopedRouters, useStore } from '../app';
import { count } from '../model/format';
import { items, type Item } from '../model/items';
import { choice, choices, entries, LEVELS, matching, severity, type Entry } from '../model/logs';
import type { RouterNode } from '../model/network';
import * as operations from '../model/operations';
import { TYPES } from '../model/types';
import { useRoute, setParameter } from '../route';
import { Badge, Drawer, Facts, Filter, Page, Select, Toggle, useFilter, useToggle, type Tone } from '../ui/parts';
import { DataTable, type Column } from '../ui/table';

const PERIOD = 3_000;
/** How many entries each router is asked for. */
const LIMIT = 500;
/** With more routers than this, one is to be chosen. */
const AT_MOST = 12;

const TONES: Record<string, Tone> = { warning: 'warn', error: 'bad', critical: 'bad' };

/** The newest log entries, and at which level each module logs. */
export function LogsPage() {
  const routers = useScopedRouters();
  const asked = routers.slice(0, AT_MOST);
  const following = useToggle('follow', true);
  const { parameters } = useRoute();
  const filter = useFilter();
  const levels = useToggle('levels');
  const { all, problems } = useLogs(asked, following);
  const [open, setOpen] = useState<Entry | null>(null);
  const module = parameters.get('module') ?? '';
  const least = parameters.get('level') ?? '';
  const shown = useMemo(() => matching(all, { severity: severity(least), module, words: filter }).sort((a, b) => b.at - a.at), [all, least, module, filter]);
  const modules = [...new Set(all.map((entry) => entry.module))].sort();
  return (
    <Page
      fill
      title="Logs"
      note={routers.length > asked.length ? `of ${asked.length} of ${routers.length} routers: choose one above` : `${shown.length} of ${all.length} entries, the newest first`}
      tools={
        <>
          <Toggle name="follow" label="follow" preset />
          <Toggle name="levels" label="levels" />
          <Select label="Module" hideLabel value={module} options={[{ value: '', label: 'all modules' }, ...modules.map((name) => ({ value: name, label: name }))]} onChange={(value) => setParameter('module', value)} />
          <Select label="Level" hideLabel value={least} options={[{ value: '', label: 'all levels' }, ...LEVELS.map((level) => ({ value: level, label: `${level} and worse` }))]} onChange={(value) => setParameter('level', value)} />
          <Filter label="Filter entries" />
        </>
      }
    >
      {problems.map((problem) => <div key={problem} class="banner warn" role="status">▲ {problem}</div>)}
      <div class="with-drawer">
        <DataTable label="Log entries" rows={shown} columns={COLUMNS} keyOf={keyOf} onOpen={setOpen} open={open && keyOf(open)} sort={{ column: 'time', down: true }} empty="No entries. Routers keep the last thousand that were enabled." />
        {open && <EntryDetails key={keyOf(open)} entry={open} onClose={() => setOpen(null)} />}
        {levels && !open && <Levels routers={asked} />}
      </div>
    </Page>
  );
}

function EntryDetails({ entry, onClose }: { entry: Entry; onClose(): void }) {
  return (
    <Drawer title={`${entry.module}, ${entry.level}`} subtitle={`${stamp(entry.at)} UTC on ${entry.router}`} onClose={onClose}>
      <pre>{entry.text}</pre>
      {entry.origin && <Facts facts={[['Source', entry.origin]]} />}
    </Drawer>
  );
}

const keyOf = (entry: Entry) => `${entry.router} ${entry.at} ${entry.module} ${entry.text}`;

const stamp = (at: number) => new Date(at).toISOString().slice(0, 19).replace('T', ' ');

const COLUMNS: Column<Entry>[] = [
  { id: 'time', title: 'Time (UTC)', width: 168, value: ({ at }) => at, cell: ({ at }) => <time>{stamp(at)}</time> },
  { id: 'router', title: 'Router', width: 86, value: ({ router }) => router },
  { id: 'module', title: 'Module', width: 116, value: ({ module }) => module },
  { id: 'level', title: 'Level', width: 92, value: ({ level }) => severity(level), cell: ({ level }) => (TONES[level] ? <Badge tone={TONES[level]}>{level}</Badge> : <span class="note">{level}</span>) },
  { id: 'text', title: 'Text', width: 560, value: ({ text }) => text, cell: ({ text, origin }) => <>{text}{origin && <span class="note"> ({origin})</span>}</> },
];

function useLogs(routers: readonly RouterNode[], following: boolean) {
  const [logs, setLogs] = useState<Record<string, Entry[]>>({});
  const [problems, setProblems] = useState<string[]>([]);
  const state = useStore(session.state);
  const key = routers.map(({ address }) => address).join();
  useEffect(() => {
    if (state.phase !== 'open') return;
    let current = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const round = async () => {
      const failed: string[] = [];
      if (!document.hidden) {
        await Promise.all(
          routers.map(async (router) => {
            try {
              const body = await operations.log(session.client, router.address, LIMIT);
              if (current) setLogs((all) => ({ ...all, [router.id]: entries(router.id, body) }));
            } catch (error) {
              failed.push(`${router.id}: ${(error as Error).message}`);
            }
          }),
        );
      }
      if (!current) return;
      setProblems(failed);
      if (following) timer = setTimeout(() => void round(), PERIOD);
    };
    void round();
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [key, following, state.phase]);
  const all = useMemo(() => routers.flatMap(({ id }) => logs[id] ?? []), [logs, key]);
  return { all, problems };
}

/** The level of each module, to be changed on the spot. */
function Levels({ routers }: { routers: readonly RouterNode[] }) {
  const [chosen, setChosen] = useState((routers.find(({ own }) => own) ?? routers[0])?.id ?? '');
  const router = routers.find(({ id }) => id === chosen) ?? routers[0];
  const one = useMemo(() => (router ? [router] : []), [router?.address]);
  const logs = useEntities(one, TYPES.log, ['name', 'module', 'enable', 'outputFile'], 5_000);
  const stats = useEntities(one, TYPES.logStats, [], 5_000);
  const counted = new Map(stats[0]?.source.rows.map((row) => [String(row['name']).split('/').pop(), row]));
  const modules = items(logs).sort((a, b) => (a.row['module'] === 'DEFAULT' ? -1 : b.row['module'] === 'DEFAULT' ? 1 : String(a.row['module']).localeCompare(String(b.row['module']))));
  return (
    <aside class="drawer" aria-label="Log levels">
      <header>
        <div><h2>Log levels</h2><p class="note">Changes hold until the router starts again.</p></div>
        {routers.length > 1 && <Select hideLabel label="Router" value={router?.id ?? ''} options={routers.map(({ id }) => ({ value: id, label: id }))} onChange={setChosen} />}
      </header>
      <div class="drawer-body">
        <table class="small levels">
          <thead><tr><th scope="col">Module</th><th scope="col">Logs</th><th scope="col" class="numeric">Problems</th></tr></thead>
          <tbody>{modules.map((item) => <LevelRow key={item.key} item={item} counted={counted.get(String(item.row['module']))} />)}</tbody>
        </table>
      </div>
    </aside>
  );
}

function LevelRow({ item, counted }: { item: Item; counted: operations.Row | undefined }) {
  const [problem, setProblem] = useState('');
  const module = String(item.row['module']);
  const now = choice(item.row['enable']);
  const offered = choices(module);
  const options = offered.some(({ value }) => value === now) ? offered : [{ value: now, label: now }, ...offered];
  const change = async (enable: string) => {
    try {
      await operations.update(session.client, item.router.address, TYPES.log, item.identity, { enable });
      setProblem('');
      session.notify('good', `${module} on ${item.router.id} logs ${options.find(({ value }) => value === enable)?.label ?? enable}.`);
    } catch (error) {
      setProblem((error as Error).message);
    }
    session.poller.refresh(item.source.node, item.source.type);
  };
  return (
    <tr>
      <th scope="row">{module}</th>
      <td>
        <Select hideLabel label={`Level of ${module}`} value={now} options={options} onChange={(value) => void change(value)} />
        {problem && <p class="bad-text" role="alert">{problem}</p>}
      </td>
      <td class="numeric">{count(['warningCount', 'errorCount', 'criticalCount'].reduce((sum, name) => sum + Number(counted?.[name] ?? 0), 0))}</td>
    </tr>
  );
}
