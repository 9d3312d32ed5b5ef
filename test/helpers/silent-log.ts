import type { Log } from '../../src/lib/log.ts';

const ignore = () => undefined;

export const silentLog: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
