/** How long it is so: `0:42`, `12:05`, `1:02:05`, and from two days on `3 d`. */
export function formatElapsed(since: string | undefined, now: number): string {
  if (since === undefined) return '';
  // The server's clock may be a little ahead of this one.
  const seconds = Math.max(0, Math.floor((now - Date.parse(since)) / 1000));
  if (seconds >= 2 * 86_400) return `${Math.floor(seconds / 86_400)} d`;
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const tail = String(seconds % 60).padStart(2, '0');
  return hours === 0 ? `${minutes}:${tail}` : `${hours}:${String(minutes).padStart(2, '0')}:${tail}`;
}
