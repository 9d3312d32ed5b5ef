import { readVersion } from '../../lib/version.ts';
import { getServer } from '../contract/server.ts';
import { route } from '../route.ts';

export const getServerRoute = route(getServer, async ({ app }) => {
  const { protection, sentence, runsUntrusted } = app.jobs.safety;
  return { version: readVersion(), runner: { protection, sentence, runsUntrusted } };
});
