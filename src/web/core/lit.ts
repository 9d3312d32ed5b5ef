import { signal } from '@preact/signals';

/** The pull requests that the pointer is about: the one beneath it, and those that it waits for. */
export const lit = signal<ReadonlySet<number>>(new Set());
