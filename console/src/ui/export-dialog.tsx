// The configuration of a router as a file.
import { useEffect, useState } from 'preact/hooks';
import { schemaOf, session } from '../app';
import { configurationText, SECTIONS, type Section } from '../model/configuration';
import type { RouterNode } from '../model/network';
import { query, schemaOf as ownSchemaOf } from '../model/operations';
import { parseSchema, type EntityType } from '../model/schema';
import { TYPES } from '../model/types';
import { Dialog, Select } from './parts';

/** Types that only routers of this kind know, and do not list in their schema unasked. */
const OWN = ['store', 'queueTemplate', 'topic', 'queue'];
const NAME = 'qdrouterd.conf';

export function ExportDialog({ routers, onClose }: { routers: readonly RouterNode[]; onClose(): void }) {
  const [id, setId] = useState((routers.find(({ own }) => own) ?? routers[0])?.id ?? '');
  const [made, setMade] = useState<{ text: string; url: string } | null>(null);
  const [problem, setProblem] = useState('');
  const router = routers.find((each) => each.id === id);
  useEffect(() => {
    if (!router) return;
    let current = true;
    let url = '';
    setMade(null);
    setProblem('');
    gather(router).then(
      (text) => {
        if (!current) return;
        url = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
        setMade({ text, url });
      },
      (error: Error) => current && setProblem(error.message),
    );
    return () => {
      current = false;
      if (url) URL.revokeObjectURL(url);
    };
  }, [router?.address]);
  return (
    <Dialog title="Configuration as a file" onClose={onClose}>
      <p class="note">What router {id} runs with now, as a configuration file: also what was changed since it started. Passwords are left out; files that it names are not part of it.</p>
      {routers.length > 1 && <Select label="Router" value={id} options={routers.map((each) => ({ value: each.id, label: each.id }))} onChange={setId} />}
      <div role="alert">{problem && <p class="message bad">■ {problem}</p>}</div>
      {!made && !problem && <p class="empty">Asking the router…</p>}
      {made && <pre class="configuration" tabIndex={0} role="group" aria-label="Configuration">{made.text}</pre>}
      <footer>
        <button type="button" onClick={onClose}>Close</button>
        {made && <a class="button primary" href={made.url} download={NAME}>Download {NAME}</a>}
      </footer>
    </Dialog>
  );
}

async function gather(router: RouterNode): Promise<string> {
  const schema = await schemaOf(router);
  const sections = await Promise.all(SECTIONS.map(async (short): Promise<Section | null> => {
    const type = schema.get(short) ?? (OWN.includes(short) ? await ownType(router, short) : undefined);
    return type ? { type, rows: await query(session.client, router.address, type.full) } : null;
  }));
  return configurationText(router.id, new Date(), sections.filter((each) => each !== null));
}

/** Routers of the old kind do not know it, which is no failure. */
async function ownType(router: RouterNode, short: string): Promise<EntityType | undefined> {
  const full = TYPES.queue.replace(/queue$/, short);
  try {
    return [...parseSchema(await ownSchemaOf(session.client, router.address, full)).values()].find((type) => type.full === full);
  } catch {
    return undefined;
  }
}
