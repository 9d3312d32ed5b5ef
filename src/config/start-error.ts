import { Fault } from '../lib/fault.ts';
import type { Config } from './config.ts';

export function describeStartError(error: unknown, config: Config): string {
  if (error instanceof Fault) return error.told === undefined ? error.detail : `${error.detail} ${error.told}`;
  const code = (error as { code?: string }).code;
  if (code === 'EADDRINUSE') return `Port ${config.port} of ${config.host} is in use. Set SLUICE_PORT to another one.`;
  if (code === 'EACCES') return `Port ${config.port} may not be used by this user. Set SLUICE_PORT to one above 1023.`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return `This machine has no address ${config.host}. Check SLUICE_HOST.`;
  if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG')
    return `The disk of the data folder ${config.dataFolder} is full. Make room, and start Sluice again.`;
  return `Sluice could not start: ${(error as Error).stack ?? String(error)}`;
}
