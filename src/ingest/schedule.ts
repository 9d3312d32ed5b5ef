/** Times that the server and its ingest process share. */
export const LEASE_MS = 60_000;
export const FIRST_RETENTION_MS = 60_000;
