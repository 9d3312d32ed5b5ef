import { computed, signal } from '@preact/signals';

/** How far the server's clock is ahead of the browser's. Instants come from the server, so ages are told by its clock. */
let aheadMs = 0;

/** The header of answers has whole seconds. */
const COARSE_MS = 2_000;

export const now = signal(Date.now());

/** The instant that the page shows, where that is in the past. */
export const past = signal<number | undefined>(undefined);

/** Ages are told as of the instant that the page shows. */
export const shownNow = computed(() => past.value ?? now.value);

export function noteServerTime(header: string | null): void {
  const at = header === null ? Number.NaN : Date.parse(header);
  if (Number.isNaN(at)) return;
  const ahead = at - Date.now();
  if (Math.abs(ahead - aheadMs) <= COARSE_MS) return;
  aheadMs = Math.abs(ahead) > COARSE_MS ? ahead : 0;
  now.value = Date.now() + aheadMs;
}

export function runClock(): void {
  setInterval(() => {
    if (document.visibilityState === 'visible') now.value = Date.now() + aheadMs;
  }, 1_000);
}
