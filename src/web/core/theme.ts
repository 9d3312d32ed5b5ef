import { signal } from '@preact/signals';

const NAMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof NAMES)[number];
const KEY = 'sluice-theme';

export const theme = signal<Theme>(stored());

function stored(): Theme {
  const kept = localStorage.getItem(KEY);
  return NAMES.find((name) => name === kept) ?? 'system';
}

export function applyTheme(): void {
  if (theme.value === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
}

/** The next of system, light and dark. */
export function switchTheme(): void {
  theme.value = NAMES[(NAMES.indexOf(theme.value) + 1) % NAMES.length] ?? 'system';
  localStorage.setItem(KEY, theme.value);
  applyTheme();
}
