import { useMemo, useRef, useState } from 'preact/hooks';
import { useEntities, useScopedRouters, useStore, session, type View } from '../app';
import { count, perSecond } from '../model/format';
import { chord, flows, matrix, type Arc, type Flow } from '../model/flow';
import { rate, type Sample } from '../model/series';
import { TYPES } from '../model/types';
import { Failures, waiting } from '../ui/failures';
import { Page, Select } from '../ui/parts';

const LINK_ATTRIBUTES = ['linkType', 'linkDir', 'owningAddr', 'ingressHistogram'];

/** Which routers messages come in at and which they leave from. */
export function FlowPage() {
  const network = useStore(session.network);
  const scoped = useScopedRouters();
  // Edge routers keep no histograms: what leaves there has left the interior at the router they are attached to.
  const routers = useMemo(() => network.routers.filter((router) => router.kind !== 'edge' && (scoped.length === 1 ? router.id === scoped[0]!.id : true)), [network, scoped]);
  const nodes = useEntities(routers, TYPES.node, ['id', 'index'], 30_000);
  const links = useEntities(routers, TYPES.link, LINK_ATTRIBUTES, 5_000);
  const all = useFlows(nodes, links);
  const [address, setAddress] = useState('');
  const [measure, setMeasure] = useState<'rate' | 'total'>('rate');
  const [marked, setMarked] = useState<number | null>(null);
  const names = [...new Set(all.map((flow) => flow.address))].sort();
  const shown = address ? all.filter((flow) => flow.address === address) : all;
  const value = (flow: Flow) => (measure === 'rate' ? (flow.rate ?? 0) : flow.total);
  const table = matrix(shown, value);
  const format = measure === 'rate' ? perSecond : count;
  return (
    <Page
      title="Message flow"
      note="From the router that a message came in at to the router it left from."
      tools={
        <>
          <Select label="Address" hideLabel value={address} options={[{ value: '', label: 'all addresses' }, ...names.map((name) => ({ value: name, label: name }))]} onChange={setAddress} />
          <Select label="Measure" hideLabel value={measure} options={[{ value: 'rate', label: 'deliveries a second' }, { value: 'total', label: 'deliveries so far' }]} onChange={(next) => setMeasure(next as 'rate' | 'total')} />
        </>
      }
    >
      <Failures views={links} />
      {table.routers.length === 0 && <p class="empty">{waiting(links) ? 'Asking the routers…' : 'No messages have been delivered to clients over links that are open now.'}</p>}
      {table.routers.length > 0 && (
        <div class="flow">
          <ChordDiagram table={table} format={format} marked={marked} onMark={setMarked} />
          <div class="flow-table">
            <table class="small matrix">
              <caption class="sr-only">Deliveries from each router (rows) to each router (columns)</caption>
              <thead>
                <tr><th scope="col">in ↓ &nbsp; out →</th>{table.routers.map((id) => <th key={id} scope="col" class="numeric">{id}</th>)}<th scope="col" class="numeric">all</th></tr>
              </thead>
              <tbody>
                {table.routers.map((id, row) => (
                  <tr key={id} onPointerEnter={() => setMarked(row)} onPointerLeave={() => setMarked(null)}>
                    <th scope="row"><Swatch index={row} /> {id}</th>
                    {table.cells[row]!.map((cell, column) => <td key={column} class="numeric">{cell > 0 ? format(cell) : '·'}</td>)}
                    <td class="numeric"><b>{format(table.cells[row]!.reduce((sum, cell) => sum + cell, 0))}</b></td>
                  </tr>
                ))}
              </tbody>
            </table>
            <h2>By address</h2>
            <table class="small">
              <thead><tr><th scope="col">Address</th><th scope="col">In at</th><th scope="col">Out at</th><th scope="col" class="numeric">Rate /s</th><th scope="col" class="numeric">So far</th></tr></thead>
              <tbody>
                {[...shown].sort((a, b) => value(b) - value(a)).slice(0, 100).map((flow) => (
                  <tr key={`${flow.address} ${flow.ingress} ${flow.egress}`}>
                    <th scope="row">{flow.address}</th><td>{flow.ingress}</td><td>{flow.egress}</td><td class="numeric">{perSecond(flow.rate)}</td><td class="numeric">{count(flow.total)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </div>
      )}
    </Page>
  );
}

/** Flows with their rates since the answer before. */
export function useFlows(nodes: readonly View[], links: readonly View[]): Flow[] {
  const before = useRef(new Map<string, Sample[]>());
  return links.flatMap(({ router, source }, index) =>
    flows(router.id, nodes[index]!.source.rows, source.rows).map((flow) => {
      const key = `${flow.egress}\n${flow.ingress}\n${flow.address}`;
      const samples = before.current.get(key) ?? [];
      if (samples[samples.length - 1]?.at !== source.at) samples.push({ at: source.at, value: flow.total });
      if (samples.length > 3) samples.shift();
      before.current.set(key, samples);
      return { ...flow, rate: rate(samples[0], samples[samples.length - 1]) };
    }),
  );
}

const SIZE = 420;
const RADIUS = 160;
const INNER = 150;

function Swatch({ index }: { index: number }) {
  return <svg width="10" height="10" aria-hidden="true"><rect width="10" height="10" rx="2" class={`hue-${index % 8}`} /></svg>;
}

function ChordDiagram({ table, format, marked, onMark }: { table: ReturnType<typeof matrix>; format(value: number): string; marked: number | null; onMark(index: number | null): void }) {
  const { arcs, ribbons } = chord(table);
  const dim = (router: number, other = router) => (marked !== null && marked !== router && marked !== other ? ' dim' : '');
  return (
    <svg class="chord" viewBox={`${-SIZE / 2} ${-SIZE / 2} ${SIZE} ${SIZE}`} role="img" aria-label="Diagram of the flow between routers; the table beside it has the numbers.">
      {ribbons.map((ribbon) => (
        <path key={`${ribbon.source.router} ${ribbon.target.router}`} class={`ribbon hue-${ribbon.source.router % 8}${dim(ribbon.source.router, ribbon.target.router)}`} d={band(ribbon.source, ribbon.target)}>
          <title>{`${table.routers[ribbon.source.router]} → ${table.routers[ribbon.target.router]}: ${format(ribbon.value)}`}</title>
        </path>
      ))}
      {arcs.map((arc) => {
        const middle = (arc.from + arc.to) / 2;
        const [x, y] = polar(middle, RADIUS + 10);
        return (
          <g key={arc.router} class={dim(arc.router)} onPointerEnter={() => onMark(arc.router)} onPointerLeave={() => onMark(null)}>
            <path class={`arc hue-${arc.router % 8}`} d={ring(arc)} />
            {(arc.to - arc.from > 0.06 || arcs.length < 30) && <text x={x} y={y + 4} text-anchor={Math.abs(x) < 12 ? 'middle' : x > 0 ? 'start' : 'end'}>{table.routers[arc.router]}</text>}
          </g>
        );
      })}
      {arcs.length === 0 && <text text-anchor="middle">nothing moves now</text>}
    </svg>
  );
}

function polar(angle: number, radius: number): [number, number] {
  return [Math.sin(angle) * radius, -Math.cos(angle) * radius];
}

const at = (angle: number, radius: number) => polar(angle, radius).map((part) => part.toFixed(2)).join(' ');
const large = (arc: Arc) => (arc.to - arc.from > Math.PI ? 1 : 0);

function ring(arc: Arc): string {
  const to = Math.max(arc.to, arc.from + 0.004);
  const bent = large(arc);
  return `M${at(arc.from, RADIUS)}A${RADIUS} ${RADIUS} 0 ${bent} 1 ${at(to, RADIUS)}L${at(to, INNER + 2)}A${INNER + 2} ${INNER + 2} 0 ${bent} 0 ${at(arc.from, INNER + 2)}Z`;
}

function band(source: Arc, target: Arc): string {
  const edge = (arc: Arc) => `A${INNER} ${INNER} 0 ${large(arc)} 1 ${at(arc.to, INNER)}`;
  return `M${at(source.from, INNER)}${edge(source)}Q0 0 ${at(target.from, INNER)}${edge(target)}Q0 0 ${at(source.from, INNER)}Z`;
}
