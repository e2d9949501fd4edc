// The licences of what is in the bundle, as their terms demand: a file beside it.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';

/** Named by rhea, replaced by shims, and so not in the bundle. */
const REPLACED = ['debug', 'ms'];

interface Locked {
  version: string;
  license?: string;
  dev?: boolean;
}

export function licences(): Plugin {
  return {
    name: 'licences',
    apply: 'build',
    generateBundle() {
      this.emitFile({ type: 'asset', fileName: 'licences.txt', source: text() });
    },
  };
}

function text(): string {
  const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));
  const { packages } = JSON.parse(readFileSync(file('./package-lock.json'), 'utf8')) as { packages: Record<string, Locked> };
  const bundled = Object.entries(packages)
    .filter(([path, { dev }]) => path.startsWith('node_modules/') && !dev)
    .map(([path, locked]) => ({ path, name: path.slice('node_modules/'.length), ...locked }))
    .filter(({ name }) => !REPLACED.includes(name));
  const parts = bundled.map(({ path, name, version, license }) => {
    const folder = file(`./${path}`);
    const found = existsSync(folder) && readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
    const terms = found ? readFileSync(`${folder}/${found}`, 'utf8').trim() : '';
    // The full text of the Apache licence is the one that Waystation itself has.
    return `${name} ${version} (${license})\n\n${license === 'Apache-2.0' ? 'See https://www.apache.org/licenses/LICENSE-2.0' : terms}\n`;
  });
  return `The console contains these packages.\n\n${parts.join(`\n${'-'.repeat(78)}\n\n`)}`;
}
