import { getServer } from '../../contract/server.ts';
import { readVersion } from '../../lib/version.ts';
import { route } from '../core/route.ts';

export const getServerRoute = route(getServer, async ({ app }) => {
  const { protection, sentence, runsUntrusted } = app.checkRunner.safety;
  return { version: readVersion(), runner: { protection, sentence, runsUntrusted } };
});
