// Dark and light: what the system says, unless a person chose.
import { Store } from '../model/store';

export type Theme = 'auto' | 'light' | 'dark';
const KEY = 'waystation.theme';

function remembered(): Theme {
  try {
    const value = localStorage.getItem(KEY);
    return value === 'light' || value === 'dark' ? value : 'auto';
  } catch {
    return 'auto';
  }
}

export const theme = new Store<Theme>(remembered());

export function applyTheme() {
  const chosen = theme.get();
  const dark = chosen === 'dark' || (chosen === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.dataset['theme'] = dark ? 'dark' : 'light';
}

export function chooseTheme(next: Theme) {
  theme.set(next);
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // Then it holds for this visit only.
  }
  applyTheme();
}

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', applyTheme);
