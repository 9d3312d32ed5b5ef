import { signal } from '@preact/signals';

/** The dialog that a key opened. */
export const opened = signal<'search' | 'help' | undefined>(undefined);

export function openSearch(): void {
  opened.value = 'search';
}
